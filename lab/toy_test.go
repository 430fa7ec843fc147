package lab_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/lab"
)

// toys runs servers that are a few lines of shell: real processes with real folders, up in no time. A setting says sets
// what the server writes before it ends at once; needs sets the memory that it claims to take; deaf has it go on after SIGTERM.
type toys struct{}

var _ engine.Launcher = toys{}

func (toys) Releases() []engine.Release {
	return []engine.Release{{Product: "toy", Version: "2.0"}, {Product: "toy", Version: "1.0"}}
}

func (toys) Port() int { return 17000 }

func (toys) Find(_ context.Context, _ infra.Machine, r engine.Release, _ string) (engine.Distribution, error) {
	if r.Version != "" && r.Version != "1.0" {
		return engine.Distribution{}, engine.ErrNotInstalled
	}
	return engine.Distribution{Release: r, Exact: "1.0.7", Origin: "PATH"}, nil
}

func (toys) Fetch(_ context.Context, _ infra.Machine, r engine.Release, _ string, say func(string)) (engine.Distribution, error) {
	say("fetch " + r.Version)
	return engine.Distribution{Release: r, Exact: "2.0.1", Origin: "shop"}, nil
}

func (toys) Needs(n engine.Node) (engine.Needs, error) {
	needs := engine.Needs{Memory: 1, Disk: 1, Setting: "needs"}
	if text := n.Config["needs"]; text != "" {
		gib, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return needs, err
		}
		needs.Memory = gib << 30
	}
	return needs, nil
}

func (toys) Configure(ctx context.Context, m infra.Machine, n engine.Node) error {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(n.Config)) {
		fmt.Fprintf(&text, "%s=%s\n", name, n.Config[name])
	}
	return errors.Join(m.Remove(ctx, filepath.Join(n.Run(), "ready")), m.WriteFile(ctx, filepath.Join(n.Dir, "conf"), []byte(text.String()), 0o600))
}

func (toys) Init(ctx context.Context, m infra.Machine, n engine.Node) error {
	return errors.Join(m.MakeDir(ctx, n.Data()), m.WriteFile(ctx, filepath.Join(n.Data(), "value"), []byte("new"), 0o600))
}

const toyServer = `
says=$(sed -n 's/^says=//p' conf)
if [ -n "$says" ]; then echo "complaint: $says"; exit 1; fi
trap 'echo clean >>data/ends; exit 0' TERM
if grep -q ^deaf= conf; then trap 'echo "still flushing"' TERM; fi
cp conf run/seen; echo >run/ready
while :; do sleep 0.02; done`

func (toys) Command(n engine.Node) (infra.Command, error) {
	return infra.Command{Path: "sh", Args: []string{"-c", toyServer}, Dir: n.Dir}, nil
}

func (toys) Ready(ctx context.Context, m infra.Machine, n engine.Node) error {
	_, err := m.ReadFile(ctx, filepath.Join(n.Run(), "ready"))
	return err
}

func (toys) Join(ctx context.Context, m infra.Machine, n engine.Node, before []engine.Node) error {
	if n.Config["joins"] == "never" {
		if _, limited := ctx.Deadline(); limited { // which would come
			return context.DeadlineExceeded
		}
		<-ctx.Done()
		return ctx.Err()
	}
	return m.WriteFile(ctx, filepath.Join(before[0].Run(), "joined-"+n.Name), nil, 0o600)
}

func (toys) Diagnose(ctx context.Context, m infra.Machine, n engine.Node) error {
	log, err := m.ReadFile(ctx, n.Log())
	if _, text, ok := strings.Cut(string(log), "complaint: "); err == nil && ok {
		return errors.New(strings.TrimSpace(text))
	}
	return nil
}

func (toys) Target(nodes []engine.Node) engine.Target {
	t := engine.Target{Engine: "toy", Password: nodes[0].Password}
	for _, n := range nodes {
		t.Addresses = append(t.Addresses, n.Address)
	}
	return t
}

// copiedToys begin with a copy of the first one's data.
type copiedToys struct{ toys }

func (copiedToys) Clone(ctx context.Context, m infra.Machine, from, to engine.Node) error {
	return m.CopyTree(ctx, from.Data(), to.Data())
}

func (copiedToys) Template(engine.Node) string { return "" }

// deps is a lab in folders of its own, with a launcher.
func deps(t *testing.T, l engine.Launcher) lab.Deps {
	t.Helper()
	m, err := local.New()
	if err != nil {
		t.Skip(err)
	}
	d := depsAt(t.TempDir(), m, l)
	d.Say = func(s string) { t.Log(s) }
	return d
}

func depsAt(dir string, m infra.Machine, l engine.Launcher) lab.Deps {
	return lab.Deps{
		Machine: m, Launchers: []engine.Launcher{l}, Home: filepath.Join(dir, "home"), Cache: filepath.Join(dir, "cache"),
		Patience: 2 * time.Minute, Layer: []string{os.Args[0], "layer"}, Monitor: []string{os.Args[0], "machine"},
	}
}

// up makes a cluster that is gone after the test, and proves it.
func up(t *testing.T, d lab.Deps, s lab.Spec) *lab.Cluster {
	t.Helper()
	c, err := lab.Up(t.Context(), s, d)
	if err != nil {
		t.Fatalf("%v (hint: %s)", err, hint(err))
	}
	t.Cleanup(func() {
		if err := c.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		nothingLeft(context.WithoutCancel(t.Context()), t, d, s.Name)
	})
	return c
}

// nothingLeft fails if there is a process or a file of a cluster.
func nothingLeft(ctx context.Context, t *testing.T, d lab.Deps, name string) {
	t.Helper()
	processes, err := d.Machine.Find(ctx, filepath.Join(d.Home, "lab", name))
	if err != nil || len(processes) > 0 {
		t.Errorf("processes left: %v, %v", processes, err)
	}
	files, err := d.Machine.List(ctx, filepath.Join(d.Home, "lab"))
	if err != nil || slices.Contains(files, name) || slices.Contains(files, name+".lock") {
		t.Errorf("files left: %q, %v", files, err)
	}
}

func hint(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func write(t *testing.T, text string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// refused fails unless err says one thing and hints at another.
func refused(t *testing.T, err error, says, hints string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(hint(err), hints) {
		t.Errorf("got %v (hint: %s), want %q (hint: %q)", err, hint(err), says, hints)
	}
}
