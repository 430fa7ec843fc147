package systemd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

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
		"it is not there":                     {"LoadState=not-found\nActiveState=inactive\nResult=success\nMainPID=0\n", false, "", true}, // with Result=success
		"masked":                              {"LoadState=masked\nActiveState=inactive\nMainPID=0\n", false, "", true},
	} {
		s := Service{&fake{show: c.show}, "mariadb"}
		running, err := s.Running(t.Context())
		process, _ := s.Process(t.Context())
		if running != c.running || process != c.process || (err != nil) != c.fails {
			t.Errorf("%s: running %v, process %q, %v", name, running, process, err)
		}
	}
}

func TestOrders(t *testing.T) {
	f := &fake{show: "LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=exit-code\nMainPID=0\n"}
	s := Service{f, "mariadb"}
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
