package action

import (
	"context"
	"errors"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/internal/poll"
)

var waitAction = Action{
	Name: "wait", Version: 1,
	About: "Waits until a query or a command returns a given value.",
	New:   func() Task { return &wait{Every: time.Second} },
}

type wait struct {
	Node    string        `yaml:"node" doc:"Where to run it. Default: for a query the primary, or the first node of a ring; for a command the machine where Plimsoll runs."`
	Query   string        `yaml:"sql" doc:"A query that returns one value."`
	Command string        `yaml:"run" doc:"Or a command, for sh -c; its output without the last line break is the value."`
	Want    string        `yaml:"want,required" doc:"The value to wait for."`
	Every   time.Duration `yaml:"every" doc:"How often to check. Default 1s."`
}

func (w *wait) Validate() error {
	if (w.Query == "") == (w.Command == "") {
		return errors.New("give either sql or run")
	}
	if w.Every < 10*time.Millisecond {
		return errors.New("every must be at least 10ms")
	}
	return nil
}

func (w *wait) Traits() Traits { return Traits{Effect: None, Repeatable: true, Interruptible: true} }

func (w *wait) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	got, err := w.ask(ctx, on)
	if err != nil {
		return CheckResult{}, err
	}
	f := CheckResult{State: Needed, Intended: Facts{"value": w.Want}, Reason: "now " + got}
	if got == w.Want {
		f.State, f.Reason = Satisfied, ""
	}
	return f, nil
}

func (w *wait) ask(ctx context.Context, on *cluster.Cluster) (string, error) {
	if w.Query != "" {
		return on.Value(ctx, w.Node, w.Query)
	}
	m, err := on.Machine(ctx, w.Node)
	if err != nil {
		return "", err
	}
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", w.Command}})
	return strings.TrimSuffix(string(out.Stdout), "\n"), err
}

// Verify has nothing to add: the answer was the one, and may be another a moment later.
func (w *wait) Verify(context.Context, *cluster.Cluster, Facts) error { return nil }

// Act asks until the answer is the one; an answer that cannot be had is asked for again, the step's timeout ends it.
func (w *wait) Act(ctx context.Context, on *cluster.Cluster, c Call) (Facts, error) {
	last := "none"
	err := poll.Until(ctx, w.Every, func() (string, error) {
		got, err := w.ask(ctx, on)
		switch {
		case err == nil && got == w.Want:
			return "", nil
		case err == nil:
			last = got
		case ctx.Err() == nil:
			last = err.Error()
		}
		c.Progress(-1, last)
		return "the last answer was " + last, nil
	})
	if err != nil {
		return nil, err
	}
	return Facts{"value": w.Want}, nil
}
