package fetch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/local"
)

// makes is a source whose server is a script that says this version.
func makes(version string, calls *atomic.Int32) func(context.Context, *Job) (string, map[string]string, error) {
	return func(ctx context.Context, f *Job) (string, map[string]string, error) {
		calls.Add(1)
		script := "#!/bin/sh\necho 'mariadbd  Ver " + version + "-MariaDB for Linux'\n"
		return "a script", map[string]string{"server": "bin"}, f.WriteFile(ctx, filepath.Join(f.Root(), "bin"), []byte(script), 0o755)
	}
}

// ask runs the script.
func ask(ctx context.Context, m infra.Machine, paths map[string]string) (product, exact string, err error) {
	out, err := m.Run(ctx, infra.Command{Path: paths["server"]})
	if err != nil {
		return "", "", err
	}
	_, exact, _ = strings.Cut(string(out.Stdout), "Ver ")
	exact, _, _ = strings.Cut(exact, "-")
	return "mariadb", exact, nil
}

func newFetch(t *testing.T, cache string, s Source) *Job {
	t.Helper()
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	s.Release = engine.Release{Product: "mariadb", Version: "11.4"}
	s.Identify = ask
	return &Job{Machine: m, Say: func(s string) { t.Log(s) }, source: s, final: filepath.Join(cache, "mariadb-11.4")}
}

func (j *Job) locked(ctx context.Context) (engine.Distribution, error) {
	unlock, err := j.lock(ctx)
	if err != nil {
		return engine.Distribution{}, err
	}
	d, err := j.run(ctx)
	return d, errors.Join(err, unlock())
}

func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// However many want a release, it is fetched once, and nothing but the release is left.
func TestFetchOnce(t *testing.T) {
	cache := t.TempDir()
	var calls atomic.Int32
	const people = 4
	results := make(chan error, people)
	for range people {
		f := newFetch(t, cache, Source{Get: makes("11.4.9", &calls)})
		go func() {
			d, err := f.locked(t.Context())
			if err == nil && (d.Exact != "11.4.9" || d.Paths["server"] != filepath.Join(cache, "mariadb-11.4/bin")) {
				err = errors.New("not what was fetched: " + d.Exact + " " + d.Paths["server"])
			}
			results <- err
		}()
	}
	for range people {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
	if got := names(t, cache); got != "mariadb-11.4" {
		t.Errorf("left in the cache: %s", got)
	}
}

// A fetch that fails shows nothing, and what it downloaded serves the next.
func TestFetchAgainAfterFailure(t *testing.T) {
	cache := t.TempDir()
	broken := errors.New("line broken")
	f := newFetch(t, cache, Source{Get: func(ctx context.Context, f *Job) (string, map[string]string, error) {
		return "", nil, errors.Join(broken, f.WriteFile(ctx, filepath.Join(f.Downloads(), "half"), nil, 0o600),
			f.WriteFile(ctx, filepath.Join(f.Root(), "half"), nil, 0o600))
	}})
	if _, err := f.locked(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	if got := names(t, cache); got != "mariadb-11.4.fetching" {
		t.Errorf("left in the cache: %s", got)
	}
	// As a killed fetch would, this one has left a program running.
	left, err := f.Start(t.Context(), infra.Command{Path: "sleep", Args: []string{"1000"}, Log: os.DevNull, Mark: f.Work()})
	if err != nil {
		t.Fatal(err)
	}

	var calls atomic.Int32
	f = newFetch(t, cache, Source{Get: func(ctx context.Context, f *Job) (string, map[string]string, error) {
		if got := names(t, f.Downloads()) + "; " + names(t, f.Root()); got != "half; " {
			t.Errorf("the next begins with %q", got)
		}
		return makes("11.4.9", &calls)(ctx, f)
	}})
	if _, err := f.locked(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive, err := left.Alive(t.Context()); alive || err != nil {
		t.Errorf("what an earlier fetch started is alive: %v, %v", alive, err)
	}
}

func TestFetchRefuses(t *testing.T) {
	var calls atomic.Int32
	for name, c := range map[string]struct {
		from Source
		says string
	}{
		"another version": {Source{Get: makes("12.1.0", &calls)}, "a script is mariadb 12.1.0 now, not 11.4"},
		"too little disk": {Source{Get: makes("11.4.9", &calls), Disk: 1 << 60}, "too little disk"},
	} {
		cache := t.TempDir()
		_, err := newFetch(t, cache, c.from).locked(t.Context())
		var hinted interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), c.says) || !errors.As(err, &hinted) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(cache, "mariadb-11.4")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was put in the cache: %v", name, err)
		}
	}
}

func TestMavensComplaint(t *testing.T) {
	maven := mavenError(&infra.ExitError{Command: "mvn", Status: 1}, "\x1b[0m[ERROR] \n[ERROR] Could not find artifact a:b:1 -> [Help 1]\n[ERROR] Re-run Maven\n")
	if want := "mvn: Could not find artifact a:b:1"; maven.Error() != want {
		t.Errorf("got %v, want %s", maven, want)
	}
}

func TestToolThatIsNotThere(t *testing.T) {
	f := newFetch(t, t.TempDir(), Source{})
	if err := f.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := f.Tool(t.Context(), "install it", "plimsoll-no-such-program")
	var hinted interface{ Hint() string }
	if !errors.Is(err, infra.ErrNoProgram) || !errors.As(err, &hinted) || hinted.Hint() != "install it" {
		t.Errorf("got %v", err)
	}
}
