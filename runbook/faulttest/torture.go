// Package faulttest tests runbooks by injecting faults: it executes every act twice, fails every step and has it undone, kills Plimsoll
// around every write, and suspends the process that owns the cluster while another takes it. Production does not reach it.
package faulttest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// Torture tests a runbook on a lab by injecting faults: it executes every act twice, fails every step and has it undone, kills Plimsoll
// around every write, and suspends the process that owns the cluster while another takes it. Each try begins with the same lab.
type Torture struct {
	Request     execute.Request
	Before      []execute.Request // brings the lab to where the runbook has something to do, in this order
	Folder      string            // for the stores of the experiments, an empty one each
	Actions     []action.Action
	Open        func(ctx context.Context, cluster string) (*cluster.Cluster, error)
	ClusterLock func(*cluster.Cluster) lock.ClusterLock
	// Save keeps what the lab is, Restore brings it back. Nil: a try begins with what the one before left.
	Save, Restore func(ctx context.Context) error
	// Elsewhere is the cluster as a Plimsoll on another host has it, while this host's holds it. Nil: there is none.
	Elsewhere func(ctx context.Context) (*cluster.Cluster, error)
	// Child runs the runbook in a process of its own on a store in this folder, or continues the run that is there. It is
	// killed at the moment given, or stopped there while something is done, and woken again; a zero moment is never.
	Child func(ctx context.Context, store string, at durable.Moment, asleep func(context.Context) error) (Fate, error)
	// Cancel undoes a run of the store in this folder in a process of its own, which is killed at the moment given. Nil: undos are not
	// killed.
	Cancel func(ctx context.Context, store, run string, at durable.Moment) (Fate, error)
	Pause  time.Duration // how long the owner sleeps
	Kinds  []string      // of tries, of TortureKinds; none: all
	// UndoKills is how many times undos are killed, spread over the run and its undo; 0: at each write of each.
	UndoKills int
	Settle    time.Duration // how long the cluster may take after an undo until the checks see what they saw before; 0: none
	Say       func(string)

	stage    map[string]string // what the checks see when a try begins
	snapshot clusterSnapshot   // what the servers say of themselves then
}

// TortureKinds are the kinds of tries, in the order in which they come.
var TortureKinds = []string{"twice", "failed", "killed", "asleep", "cancelled"}

// Fate is how a child process ended.
type Fate struct {
	Cut  bool   // it came to the moment at which it was killed or stopped
	Said string // the end of its output
}

// Run executes all experiments. With Save and Restore the lab is left as it was, else as the last try leaves it.
func (t *Torture) Run(ctx context.Context) (o Report, err error) {
	began := time.Now()
	if t.Save != nil {
		t.Say("keep a copy of the lab")
		if err := t.Save(ctx); err != nil {
			return o, err
		}
		defer func() { err = errors.Join(err, t.Restore(context.WithoutCancel(ctx))) }()
	}
	if err := t.prepare(ctx, "before"); err != nil {
		return o, err
	}
	if err := t.worthIt(ctx, &o); err != nil {
		return o, err
	}
	o.Kinds = t.Kinds
	for n, experiment := range []func(context.Context, *Report) error{t.twice, t.fail, t.kill, t.sleep, t.cancelled} {
		if len(t.Kinds) > 0 && !slices.Contains(t.Kinds, TortureKinds[n]) {
			continue
		}
		if err := experiment(ctx, &o); err != nil {
			return o, err
		}
	}
	o.Took = time.Since(began)
	return o, nil
}

// worthIt refuses a runbook that has nothing to do: every try would pass.
func (t *Torture) worthIt(ctx context.Context, o *Report) (err error) {
	s, err := t.service(ctx, "plan")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	p, err := s.Prepare(ctx, t.Request)
	if err != nil {
		return err
	}
	h := p.Header
	if h.Environment != cluster.Lab {
		return fmt.Errorf("cluster %s is not a lab", h.Cluster)
	}
	if err := h.Plan.Trouble(); err != nil {
		return err
	}
	o.Runbook, o.Hash, o.Product, o.Version, o.Topology, o.Steps = h.Runbook, h.Hash, h.Product, h.Version, h.Topology, len(h.Plan.Steps)
	if t.stage, err = t.sights(ctx, h.Plan); err != nil {
		return err
	}
	for _, step := range h.Plan.Steps {
		if step.State == action.Needed {
			return nil
		}
	}
	return &hint.PermanentError{Reason: "every step is satisfied already: there is nothing to torture", Advice: "bring the cluster into the state that the runbook changes, or give other inputs"}
}

// service is a service on an empty store.
func (t *Torture) service(ctx context.Context, name string) (*execute.Service, error) {
	return t.reopen(ctx, filepath.Join(t.Folder, name))
}

// reopen is a service on the store of a folder, which is to be closed.
func (t *Torture) reopen(ctx context.Context, folder string) (*execute.Service, error) {
	store, err := openStore(ctx, folder)
	if err != nil {
		return nil, err
	}
	return &execute.Service{Store: store, Actions: t.Actions, Open: t.Open, ClusterLock: t.ClusterLock, User: "torture", Holder: "torture"}, nil
}

func openStore(ctx context.Context, folder string) (*durable.Store, error) {
	return durable.Open(ctx, durable.Options{Folder: folder, Version: journal.Interpreter})
}

// run plans and runs once, and returns how the run stands.
func (t *Torture) run(ctx context.Context, s *execute.Service, q execute.Request, after func(*journal.State) *journal.Command) (*journal.State, string, error) {
	p, err := s.Prepare(ctx, q)
	if err != nil {
		return nil, "", err
	}
	run, err := s.Begin(ctx, p)
	if err != nil {
		return nil, "", err
	}
	e, err := s.Execute(ctx)
	if err != nil {
		return nil, run, err
	}
	stop := execute.ApproveAll(ctx, s)
	defer stop()
	var st *journal.State
	for o := (&journal.Command{Do: journal.DoRun}); o != nil; {
		if err = s.Start(ctx, e, run, *o); err == nil {
			err = e.Wait(ctx, run)
		}
		if err != nil {
			break
		}
		if st, err = s.State(ctx, run); err != nil {
			break
		}
		o = after(st)
	}
	return st, run, errors.Join(err, e.Close(ctx))
}
