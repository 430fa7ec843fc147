package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// Faults are actions on volumes and machines as a timeline runs them: with the inputs of the action, node (default n1), and for, after
// which it is undone.
func Faults(actions []action.Action) (all []spec.Change) {
	for _, a := range actions {
		all = append(all, faulty{a})
	}
	return all
}

type faulty struct{ action action.Action }

var (
	_ spec.Change    = faulty{}
	_ spec.Demanding = faulty{}
)

// Name is the action's.
func (f faulty) Name() string { return f.action.Name }

// Demand asks for machines.
func (faulty) Demand(s *lab.Spec) {
	if s.Machines == nil {
		s.Machines = &lab.Machines{}
	}
}

// Check refuses what the action refuses, and nodes that the cluster does not have.
func (f faulty) Check(c spec.Call, nodes int) error {
	_, node, lasts, err := f.read(c)
	if err != nil {
		return err
	}
	if err := checkNode(c, node, nodes); err != nil {
		return err
	}
	if task := f.action.New(); lasts > 0 {
		if _, can := task.(action.Undoer); !can {
			return c.At.Errorf("%s cannot be undone: it takes no time", f.Name())
		}
	}
	return nil
}

// read takes the inputs apart: those of the action, the node, and how long it lasts.
func (f faulty) read(c spec.Call) (task action.Task, node string, lasts time.Duration, err error) {
	with := &document.Node{Kind: document.Mapping}
	if c.With != nil {
		with.File, with.Line, with.Column = c.With.File, c.With.Line, c.With.Column
		with.Entries = slices.Clone(c.With.Entries)
	}
	if at := with.Get("for"); at != nil {
		if lasts, err = document.Duration(at); err != nil {
			return nil, "", 0, err
		}
		with.Entries = slices.DeleteFunc(with.Entries, func(e document.Entry) bool { return e.Key == "for" })
	}
	node = "n1"
	if at := with.Get("node"); at != nil {
		node = at.Text
	} else {
		n := &document.Node{Kind: document.Scalar, Text: node}
		with.Entries = append(with.Entries, document.Entry{Key: "node", At: n, Value: n})
	}
	task, err = f.action.Bind(with)
	return task, node, lasts, err
}

// Run does it, and undoes it when its time is over.
func (f faulty) Run(ctx context.Context, on *lab.Cluster, c spec.Call, tell func(series.Event)) error {
	task, node, lasts, err := f.read(c)
	if err != nil {
		return err
	}
	site := lab.AsCluster(on, nil, on.Server(node).Machine())
	defer func() { _ = site.Close() }() // the cluster stays in its owner's hands
	found, err := task.Check(ctx, site.ReadOnly())
	if err != nil {
		return err
	}
	if found.State == action.Unknown {
		return fmt.Errorf("%s: %s", f.Name(), found.Reason)
	}
	call := action.Call{Step: c.Name(), Attempt: 1, Token: c.Name(), Before: found.Observed, Progress: func(float64, string) {}}
	tell(series.Event{Kind: series.FaultBegan, Name: f.Name(), Node: node})
	if _, err := task.Act(ctx, site, call); err != nil || lasts == 0 {
		return err
	}
	waited := poll.Rest(ctx, lasts)
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // nothing is left broken
	defer cancel()
	undo, can := task.(action.Undoer)
	if !can {
		return waited
	}
	return errors.Join(tellAfter(undo.Undo(back, site, call), func(kind series.EventKind) {
		tell(series.Event{Kind: kind, Name: f.Name(), Node: node})
	}, series.FaultOver), waited)
}
