package systemd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/infra"
)

// fake is a machine on which systemctl says what the test has it say.
type fake struct {
	infra.Machine
	show   string
	orders []string
	fails  *infra.ExitError // of an order
}

func (*fake) Name() string { return "fake" }

func (f *fake) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	if !slices.Contains(c.Args, "show") {
		f.orders = append(f.orders, strings.Join(c.Args, " "))
		if f.fails != nil {
			return infra.Output{}, f.fails
		}
		return infra.Output{}, nil
	}
	return infra.Output{Stdout: []byte(f.show)}, nil
}

func TestWhatSystemdSays(t *testing.T) {
	for name, c := range map[string]struct {
		show    string
		running bool
		process string
		fails   bool
	}{
		"running":                             {"LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nMainPID=7\nInvocationID=abc\n", true, "abc", false},
		"an old systemd, without invocations": {"LoadState=loaded\nActiveState=active\nMainPID=7\n", true, "7", false},
		"starting":                            {"LoadState=loaded\nActiveState=activating\nMainPID=7\nInvocationID=abc\n", true, "abc", false},
		"stopped":                             {"LoadState=loaded\nActiveState=inactive\nMainPID=0\nInvocationID=abc\n", false, "", false},
		"failed":                              {"LoadState=loaded\nActiveState=failed\nResult=signal\nMainPID=0\n", false, "", false},
		"failed, and a process did not end":   {"LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=timeout\nMainPID=0\nTasksCurrent=12\n", true, "0", false},
		"failed, and nothing is left":         {"LoadState=loaded\nActiveState=failed\nResult=timeout\nMainPID=0\nTasksCurrent=[not set]\n", false, "", false},
		"an old systemd says nothing of it":   {"LoadState=loaded\nActiveState=inactive\nMainPID=0\nTasksCurrent=18446744073709551615\n", false, "", false},
		"it comes back in a moment":           {"LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nMainPID=0\nInvocationID=abc\n", true, "abc", false},
		"it is not there":                     {"LoadState=not-found\nActiveState=inactive\nResult=success\nMainPID=0\n", false, "", true}, // with Result=success
		"masked":                              {"LoadState=masked\nActiveState=inactive\nMainPID=0\n", false, "", true},
	} {
		s := Service{Machine: &fake{show: c.show}, Unit: "mariadb"}
		running, err := s.Running(t.Context())
		process, _ := s.Process(t.Context())
		if running != c.running || process != c.process || (err != nil) != c.fails {
			t.Errorf("%s: running %v, process %q, %v", name, running, process, err)
		}
	}
}

func TestOrders(t *testing.T) {
	f := &fake{show: "LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=exit-code\nMainPID=0\n"}
	s := Service{Machine: f, Unit: "mariadb"}
	if err := errors.Join(s.Start(t.Context()), s.Stop(t.Context())); err != nil {
		t.Error(err)
	}
	if want := []string{"--no-ask-password --no-pager start -- mariadb", "--no-ask-password --no-pager stop -- mariadb"}; !slices.Equal(f.orders, want) {
		t.Errorf("systemctl was told %q", f.orders)
	}
	f.fails = &infra.ExitError{Command: "systemctl", Status: 1, Stderr: "Job failed."}
	err := s.Start(t.Context())
	var advice interface{ Hint() string }
	if err == nil || !strings.Contains(err.Error(), "result exit-code") || !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "journalctl -u mariadb") {
		t.Errorf("a unit that does not start: %v", err)
	}
	f.show, f.orders = "LoadState=not-found\n", nil
	if err := s.Stop(t.Context()); err == nil || len(f.orders) > 0 {
		t.Errorf("a unit that is not there was stopped: %v, %q", err, f.orders)
	}
}

// hung is a machine on which a unit does not stop by itself, or not even by SIGKILL.
type hung struct {
	infra.Machine
	orders   []string
	immortal bool
	dead     bool
}

func (*hung) Name() string { return "hung" }

func (h *hung) Run(ctx context.Context, c infra.Command) (infra.Output, error) {
	switch {
	case slices.Contains(c.Args, "stop"):
		h.orders = append(h.orders, "stop")
		<-ctx.Done()
		return infra.Output{}, context.Cause(ctx)
	case slices.Contains(c.Args, "kill"):
		h.orders = append(h.orders, strings.Join(c.Args[2:], " "))
		h.dead = !h.immortal
		return infra.Output{}, nil
	case h.dead:
		return infra.Output{Stdout: []byte("LoadState=loaded\nActiveState=failed\nMainPID=0\nTasksCurrent=[not set]\n")}, nil
	case slices.ContainsFunc(h.orders, func(o string) bool { return strings.HasPrefix(o, "kill") }):
		return infra.Output{Stdout: []byte("LoadState=loaded\nActiveState=failed\nSubState=failed\nMainPID=0\nTasksCurrent=3\n")}, nil
	}
	return infra.Output{Stdout: []byte("LoadState=loaded\nActiveState=deactivating\nSubState=stop-sigterm\nMainPID=7\nTasksCurrent=3\n")}, nil
}

// A unit may wait a quarter of an hour for its server to stop. Whoever fences a primary cannot.
func TestAServerThatHangsIsEndedInABoundedTime(t *testing.T) {
	for _, immortal := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := &hung{immortal: immortal}
			began := time.Now()
			err := Service{Machine: h, Unit: "mariadb"}.End(t.Context())
			took := time.Since(began)
			if want := []string{"stop", "kill --signal=SIGKILL -- mariadb"}; !slices.Equal(h.orders, want) || took < stopWithin || took > stopWithin+goneWithin+time.Second {
				t.Errorf("systemctl was told %q, in %s", h.orders, took)
			}
			if (err != nil) != immortal || immortal && !strings.Contains(err.Error(), "still alive") {
				t.Errorf("of one that cannot be killed (%v): %v", immortal, err)
			}
		})
	}
	if f := (&fake{show: "LoadState=loaded\nActiveState=inactive\nMainPID=0\n"}); (Service{Machine: f, Unit: "mariadb"}).End(t.Context()) != nil || len(f.orders) != 1 {
		t.Errorf("a server that stops was told %q", f.orders)
	}
}
