package systemd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Starter is a machine on which what Start starts is a transient unit of systemd, named after the mark: it stays when the session
// of the one who started it ends, which a process of that session need not, and one that runs is not started twice. All
// else is the machine's own.
type Starter struct {
	infra.Machine
	// Launcher begins the command line that runs Launch there with one more argument.
	Launcher []string
	Folder   string // for what launchers are told; nobody else may read it
}

var (
	_ infra.Conversing = Starter{}
	_ infra.Recaller   = Starter{}
	_ infra.Itself     = Starter{}
)

// Runs tells whether systemd runs this machine, and this user may have it start units: root may.
func Runs() bool {
	_, err := os.Stat("/run/systemd/system") // sd_booted(3)
	return err == nil && os.Geteuid() == 0
}

// launch is what a launcher is told. It goes through a file, since secrets in the environment of a unit can be read by anybody.
type launch struct {
	Command infra.Command
	Path    string // the program, absolute
	Env     []string
}

// Start starts a command as the unit UnitOf(c.Mark).
func (s Starter) Start(ctx context.Context, c infra.Command) (infra.Process, error) {
	if c.Mark == "" {
		return nil, fmt.Errorf("start %s: there is no mark by which to find it again", c.Path)
	}
	program, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, infra.ErrNoProgram)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, infra.MarkVariable+"=") })
	told, err := s.tell(ctx, launch{Command: c, Path: program, Env: append(append(env, c.Env...), infra.MarkVariable+"="+c.Mark)})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	defer func() { _ = os.Remove(told); _ = os.Remove(told + isAs) }()
	args := append([]string{"--quiet", "--collect", "--unit=" + UnitOf(c.Mark), "--service-type=exec", "--property=KillMode=process",
		"--description=Plimsoll: " + filepath.Base(c.Path), "--",
		"/bin/sh", "-c", `exec "$0" "$@"`}, s.Launcher...) // SELinux lets systemd run a shell, and not a file of a user's folder
	if _, err := s.Run(ctx, infra.Command{Path: "systemd-run", Args: append(args, told)}); err != nil {
		return nil, hint.With(fmt.Errorf("start %s as the unit %s: %w", c.Path, UnitOf(c.Mark), err), "systemctl status "+UnitOf(c.Mark)+" there")
	}
	return s.await(ctx, c, told)
}

// tell writes what a launcher is to do.
func (s Starter) tell(ctx context.Context, l launch) (string, error) {
	body, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	if err := s.MakeDir(ctx, s.Folder); err != nil {
		return "", err
	}
	told := filepath.Join(s.Folder, rand.Text())
	return told, s.WriteFile(ctx, told, body, 0o600)
}

// isAs is the end of the name of the file in which a launcher says which process it is.
const isAs = ".is"

// await waits until the launcher has said which process it is and has become the command, so that it can be found by its mark.
func (s Starter) await(ctx context.Context, c infra.Command, told string) (infra.Process, error) {
	const within = 10 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("start %s: its unit did not report its process within %v", c.Path, within))
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		if reference, err := os.ReadFile(told + isAs); err == nil {
			p, err := s.Recall(ctx, string(reference))
			if err != nil {
				return nil, err
			}
			alive, err := p.Alive(ctx)
			if err != nil {
				return nil, err
			}
			if !alive || p.Mark() == c.Mark {
				return started{p, c.Mark, string(reference)}, nil
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// started is a process whose mark is known, also when it has ended.
type started struct {
	infra.Process
	mark, reference string
}

func (p started) Mark() string      { return p.mark }
func (p started) Reference() string { return p.reference }
func (p started) Leads() bool       { return true }

// unitName is what a unit may be called without being escaped.
var unitName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}$`)

// UnitOf is the unit of what is started under a mark: of an act of a runbook, plimsoll- and its token.
func UnitOf(mark string) string {
	if token, act := strings.CutPrefix(mark, "/runbook/"); act && unitName.MatchString(token) {
		return "plimsoll-" + token
	}
	sum := sha256.Sum256([]byte(mark))
	return "plimsoll-" + hex.EncodeToString(sum[:8])
}

// Talk is the machine's own.
func (s Starter) Talk(ctx context.Context, c infra.Command) (infra.Channel, error) {
	m, ok := s.Machine.(infra.Conversing)
	if !ok {
		return nil, fmt.Errorf("talk to %s: %w", c.Path, errors.ErrUnsupported)
	}
	return m.Talk(ctx, c)
}

// Recall is the machine's own.
func (s Starter) Recall(ctx context.Context, reference string) (infra.Process, error) {
	m, ok := s.Machine.(infra.Recaller)
	if !ok {
		return nil, fmt.Errorf("find process %s: %w", reference, errors.ErrUnsupported)
	}
	return m.Recall(ctx, reference)
}

// Itself is the machine's own.
func (s Starter) Itself(ctx context.Context) (infra.Referenced, error) {
	m, ok := s.Machine.(infra.Itself)
	if !ok {
		return nil, fmt.Errorf("find this process: %w", errors.ErrUnsupported)
	}
	return m.Itself(ctx)
}
