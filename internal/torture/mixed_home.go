package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// home is one person's Plimsoll: the labs or the inventory that it knows, and a store of its own for each try.
type home struct {
	program, folder, inventory, store, cluster string

	patience time.Duration // how long a command may take before it is called hung; 0: as usual
	lease    time.Duration // for which a run holds its cluster without prolonging it; 0: as usual
}

// lease is for how long a run holds its cluster without prolonging it, unless its home says otherwise.
const lease = 5 * time.Second

// said is what a command came to.
type said struct {
	Args   []string      `json:"args"`
	Code   int           `json:"code"` // -1: it was killed
	Out    string        `json:"out,omitempty"`
	Err    string        `json:"err,omitempty"`
	Took   time.Duration `json:"took_ns"`
	Killed bool          `json:"killed,omitempty"` // by the attack
	Hung   bool          `json:"hung,omitempty"`
}

// patience is how long a command may take before it is called hung.
const patience = 4 * time.Minute

// command is a call of plimsoll in this home, cut at an entry of the run's journal.
func (h home) command(ctx context.Context, at *cut, from int, stop bool, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Env = append(os.Environ(), "PLIMSOLL_HOME="+h.folder, "PLIMSOLL_TORTURE_STORE="+h.store, "PLIMSOLL_TORTURE_TTL="+cmp.Or(h.lease, lease).String())
	spec := "kill:0:false:0s"
	if at != nil {
		what := "kill"
		if stop {
			what = "stop"
		}
		spec = at.spec(what, from)
		for _, or := range at.Or {
			spec += ";" + or.spec(what, from)
		}
	}
	cmd.Env = append(cmd.Env, "PLIMSOLL_TORTURE_AT="+spec)
	if h.inventory != "" {
		cmd.Env = append(cmd.Env, "PLIMSOLL_INVENTORY="+h.inventory)
	}
	return cmd
}

// spec is how a child is told where it is cut.
func (c cut) spec(what string, from int) string {
	return fmt.Sprintf("%s:%s:%v:%s", what, cmp.Or(c.Entry, strconv.Itoa(from+c.After)), c.Before, c.Delay)
}

// call runs a command to its end, or to where it is cut. It tells of each entry that the journal gets.
func (h home) call(ctx context.Context, at *cut, from int, entry func(int), args ...string) said {
	s := said{Args: args}
	cmd := h.command(ctx, at, from, false, args...)
	began := time.Now()
	wait, err := s.start(cmd, func(n int, e journal.Event) {
		if e.Kind == journal.Asked {
			go h.agree(ctx, e.Step)
		}
		if entry != nil {
			entry(n)
		}
	})
	if err != nil {
		s.Code, s.Err = -1, err.Error()
		return s
	}
	quit := time.AfterFunc(cmp.Or(h.patience, patience), func() {
		s.Hung = true
		_ = cmd.Process.Signal(syscall.SIGQUIT) // it says where it hangs
	})
	s.end(wait())
	quit.Stop()
	s.Took = time.Since(began)
	return s
}

// agree approves a step of the run that asks for it: the person has looked, and what is asked for is so.
func (h home) agree(ctx context.Context, step string) {
	rest(ctx, 300*time.Millisecond)
	runs, err := h.runs(ctx)
	if err != nil || len(runs) == 0 {
		return // then its run waits, and is looked at
	}
	for _, r := range runs {
		if !r.over() {
			_ = h.command(ctx, nil, 0, false, "runbook", "approve", r.Run, "--step", step, "--yes").Run()
		}
	}
}

func (s *said) start(cmd *exec.Cmd, entry func(int, journal.Event)) (wait func() error, err error) {
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() error {
		lines := bufio.NewReader(out)
		var other strings.Builder
		for n := 0; ; {
			line, err := lines.ReadString('\n')
			if strings.HasPrefix(line, `{"at":`) {
				n++
				var told struct {
					Event journal.Event `json:"event"`
				}
				if json.Unmarshal([]byte(line), &told) == nil && entry != nil {
					entry(n, told.Event)
				}
			} else {
				other.WriteString(line)
			}
			if err != nil {
				break
			}
		}
		err := cmd.Wait()
		s.Out, s.Err = other.String(), problems.String()
		return err
	}, nil
}

func (s *said) end(err error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		s.Code, s.Killed = -1, !s.Hung
	case errors.As(err, &exit):
		s.Code = exit.ExitCode()
	default:
		s.Code, s.Err = -1, s.Err+err.Error()
	}
}

// told is what status --json says of a run.
type told struct {
	Run       string              `json:"run"`
	Runbook   string              `json:"runbook"`
	Status    string              `json:"status"`
	Now       *journal.Summary    `json:"now"`
	Left      []journal.Remainder `json:"left"`
	Damage    string              `json:"damage"`
	Abandoned bool                `json:"abandoned"`
}

// unchanged tells whether it was cancelled before it changed anything.
func (t told) unchanged() bool {
	return t.Status == string(journal.RunCancelled) && t.Now != nil && t.Now.Reason == journal.NothingChanged
}

// over tells whether nothing more can become of it.
func (t told) over() bool {
	return t.Status == string(journal.RunDone) || t.Status == journal.DoneWithRemainders || t.Status == string(journal.RunUndone) || t.Status == journal.UndoneWithRemainders || t.Status == string(journal.RunCancelled)
}

// runs are those of this home's store, the newest first.
func (h home) runs(ctx context.Context) (all []told, err error) {
	s := h.call(ctx, nil, 0, nil, "runbook", "status", "--json")
	if s.Code != 0 {
		return nil, fmt.Errorf("status: code %d: %s", s.Code, s.Err)
	}
	if err := json.Unmarshal([]byte(s.Out), &all); err != nil {
		return nil, fmt.Errorf("read the status: %w: %s", err, s.Out)
	}
	return all, nil
}

// entries are a run's journal.
func (h home) entries(ctx context.Context, run string) (all []durable.Entry, err error) {
	s := h.call(ctx, nil, 0, nil, "runbook", "history", run, "--json")
	if s.Code != 0 {
		return nil, fmt.Errorf("history of %s: code %d: %s", run, s.Code, s.Err)
	}
	if err := json.Unmarshal([]byte(s.Out), &all); err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", run, err)
	}
	return all, nil
}

// verify writes down a run's evidence, and verifies it.
func (h home) verify(ctx context.Context, run string) error {
	file := filepath.Join(h.store, run+".evidence.json")
	if s := h.call(ctx, nil, 0, nil, "runbook", "evidence", run, "-o", file); s.Code != 0 {
		return fmt.Errorf("evidence of %s: code %d: %s", run, s.Code, s.Err)
	}
	if s := h.call(ctx, nil, 0, nil, "runbook", "verify", file); s.Code != 0 {
		return fmt.Errorf("verify the evidence of %s: code %d: %s", run, s.Code, s.Err)
	}
	return nil
}
