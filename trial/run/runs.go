package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/lab"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// runs executes runbooks on the trial's own clusters, by the service that production uses. Their journals are kept while the
// trial runs; what is left of them is evidence beside the result.
type runs struct {
	service  *execute.Service
	executor *durable.Executor
	dir      string // of the result

	mu  sync.Mutex
	now *execution // the run under way, nil for none
	all []ended
}

// ended is a run that a trial has seen to its end.
type ended struct {
	id    string
	state *journal.State
	made  bool // of a runbook that was made for one step: no gate counts rehearsals of it
}

const (
	journalFolder  = "journal" // of the runs that are under way
	evidenceFolder = "runs"
)

// openRuns makes the journal of the trial's runs.
func (r *runner) openRuns(ctx context.Context) error {
	folder := filepath.Join(r.options.Dir, journalFolder)
	store, err := durable.Open(ctx, durable.Options{Folder: folder, Version: journal.Interpreter})
	if err != nil {
		return err
	}
	name := action.TrialHolder(r.trial.Name)
	s := &runs{dir: r.options.Dir, service: &execute.Service{
		Store: store, Actions: r.parts.Actions, User: name, Holder: name, ClusterLock: r.parts.ClusterLock,
		Open: r.clusterOf,
		Meter: func(on *cluster.Cluster) execute.Meter {
			return meter{nodes: execute.NewNodeMeter(on), load: r.live.Load()}
		},
	}}
	if r.parts.Watch != nil {
		s.service.Watch = func(ctx context.Context, on *cluster.Cluster) (execute.Watched, error) {
			return r.parts.Watch(ctx, on, r.trial.Queries)
		}
	}
	s.service.Observe = func(run string, e journal.Event, at time.Time) {
		s.mu.Lock()
		now := s.now
		s.mu.Unlock()
		if now != nil && now.id == run {
			now.observe(e, at)
		}
	}
	s.service.Naming = func(ctx context.Context, run string) {
		if err := r.underway.Runs(ctx, run); err != nil {
			r.options.Log.Warn("if this process is killed, Plimsoll will not know that its lock may be taken over", "error", err)
		}
	}
	if s.executor, err = s.service.Execute(ctx); err != nil {
		return errors.Join(err, store.Close())
	}
	r.runs = s
	return targetIsFree(ctx, r)
}

// targetIsFree looks, before there is any load, whether another run has the target that runbooks are to change.
func targetIsFree(ctx context.Context, r *runner) (err error) {
	e := r.trial.Existing
	if e == nil || r.parts.ClusterLock == nil {
		return nil
	}
	on, err := r.clusterOf(ctx, e.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	clusterLock := r.parts.ClusterLock(on)
	if clusterLock == nil {
		return nil
	}
	look := action.Claim{Cluster: e.Name, Run: "look", Holder: r.runs.service.Holder, For: moment, Break: r.options.BreakLock != ""}
	if err := lock.Watch(ctx, clusterLock, look); ctx.Err() != nil {
		return err
	}
	var claimed *action.ClaimedError
	if err := clusterLock.Claim(ctx, look); errors.As(err, &claimed) {
		claimed.Again = r.trial.Command
		return lockedTarget{claimed}
	} else if err != nil {
		return nil //nolint:nilerr // who cannot be asked now is asked again by the run, which says what is wrong
	}
	_ = clusterLock.Clear(context.WithoutCancel(ctx), look) // else it lapses by itself in a moment
	return nil
}

// lockedTarget refuses a target that another run has.
type lockedTarget struct {
	*action.ClaimedError
}

// Hint says what to do.
func (l lockedTarget) Hint() string {
	switch {
	case l.Died != 0:
		return l.ClaimedError.Hint()
	case l.Expired:
		return "its process died: " + l.Again + " --break-lock REASON takes over the lock"
	}
	return "wait for it to end"
}

// nameOf is what runs call the cluster that servers are.
func (r *runner) nameOf(s *servers) string {
	if e := r.trial.Existing; e != nil {
		return e.Name
	}
	return s.cluster.Name()
}

// siteOf is what a run may reach: the nodes of the cell that is measured, or of the cluster that exists.
func (r *runner) clusterOf(ctx context.Context, name string) (*cluster.Cluster, error) {
	if e := r.trial.Existing; e != nil {
		return r.parts.OpenCluster(ctx, e.Name, r.options.Lab.Machine)
	}
	for _, s := range r.servers {
		if s.cluster == nil || s.cluster.Name() != name {
			continue
		}
		on := lab.AsCluster(s.cluster, s.engine, r.options.Lab.Machine)
		all := on.List
		on.List = func(ctx context.Context) ([]cluster.Node, error) {
			nodes, err := all(ctx)
			return slices.DeleteFunc(nodes, func(n cluster.Node) bool { return slices.Contains(s.idle, n.Name) }), err
		}
		return on, nil
	}
	return nil, fmt.Errorf("the trial has no cluster %s", name)
}

// close leaves the evidence of every run and takes the journal away. A run that still acts is left as if its process had died.
func (s *runs) close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	var errs []error
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	errs = append(errs, s.executor.Close(limited))
	for _, run := range s.all {
		errs = append(errs, s.evidence(ctx, run.id))
	}
	return errors.Join(append(errs, s.service.Store.Close(), os.RemoveAll(filepath.Join(s.dir, journalFolder)))...)
}

func (s *runs) evidence(ctx context.Context, run string) error {
	e, err := s.service.Evidence(context.WithoutCancel(ctx), run)
	if err != nil {
		return err
	}
	folder := filepath.Join(s.dir, evidenceFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("keep the evidence: %w", err)
	}
	f, err := os.Create(filepath.Join(folder, run+".json"))
	if err != nil {
		return fmt.Errorf("keep the evidence: %w", err)
	}
	return errors.Join(e.Write(f), f.Close())
}
