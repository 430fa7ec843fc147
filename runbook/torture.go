package runbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/action"
)

// Torture tries a runbook on a lab as fate would: every act twice, every step failed and taken back, Plimsoll killed around
// every write, its owner paused while another takes the cluster.
type Torture struct {
	Request Request
	Folder  string // for the stores of the experiments, an empty one each
	Actions []action.Action
	Open    func(ctx context.Context, cluster string) (*action.Site, error)
	Marker  func(*action.Site) Marker
	// Child runs the runbook in a process of its own on a store in this folder, or continues the run that is there. It is
	// killed at the moment given, or paused there for as long; a zero moment is never. killed tells whether it came to that.
	Child func(ctx context.Context, store string, at durable.Moment, pause time.Duration) (killed bool, err error)
	Pause time.Duration // how long the owner sleeps
	Say   func(string)
}

// Trouble is one thing that a runbook did not stand.
type Trouble struct {
	Test string `json:"test"`
	Step string `json:"step,omitempty"`
	Text string `json:"text"`
}

// Ordeal is the report of a torture.
type Ordeal struct {
	Tries    int       `json:"tries"`
	Asks     []string  `json:"asks,omitempty"`     // steps that stop for a person when they are cut off: declared so
	Stays    []string  `json:"stays,omitempty"`    // steps that cannot be taken back: declared so
	Troubles []Trouble `json:"troubles,omitempty"` // empty: it stood
}

// Run executes all experiments. The cluster is left as the last run leaves it.
func (t *Torture) Run(ctx context.Context) (Ordeal, error) {
	var o Ordeal
	if err := t.worthIt(ctx); err != nil {
		return o, err
	}
	for _, experiment := range []func(context.Context, *Ordeal) error{t.twice, t.fail, t.kill, t.sleep} {
		if err := experiment(ctx, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// worthIt refuses a runbook that has nothing to do: every try would pass.
func (t *Torture) worthIt(ctx context.Context) (err error) {
	s, err := t.service(ctx, "plan")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	p, err := s.Prepare(ctx, t.Request)
	if err != nil {
		return err
	}
	if p.Header.Environment != "lab" {
		return fmt.Errorf("cluster %s is no lab", p.Header.Cluster)
	}
	if err := p.Header.Plan.Trouble(); err != nil {
		return err
	}
	for _, step := range p.Header.Plan.Steps {
		if step.State == action.Needed {
			return nil
		}
	}
	return &action.Refusal{Reason: "everything is done already: there is nothing to torture", Advice: "bring the cluster into the state that the runbook changes, or give other inputs"}
}

// service is a service on an empty store.
func (t *Torture) service(ctx context.Context, name string) (*Service, error) {
	store, err := durable.Open(ctx, durable.Options{Folder: filepath.Join(t.Folder, name), Version: Interpreter})
	if err != nil {
		return nil, err
	}
	return &Service{Store: store, Actions: t.Actions, Open: t.Open, Marker: t.Marker, User: "torture", Holder: "torture"}, nil
}

// run plans and runs once, and returns how the run stands.
func (t *Torture) run(ctx context.Context, s *Service, after func(*State) *Order) (*State, string, error) {
	p, err := s.Prepare(ctx, t.Request)
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
	stop := s.ApproveAll(ctx)
	defer stop()
	var st *State
	for o := (&Order{Do: "run"}); o != nil; {
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

// ApproveAll lets as many people as are needed agree to everything, until stopped. It is for the torture alone.
func (s *Service) ApproveAll(ctx context.Context) (stop func()) {
	asked := make(chan Word, 64)
	done := make(chan struct{})
	s.Observe = func(run string, e Event, _ time.Time) {
		if e.Kind == Asked {
			asked <- Word{Say: "approve", Step: e.Step, Plan: e.Plan, Reason: run}
		}
	}
	go func() {
		defer close(done)
		for w := range asked {
			run := w.Reason
			for n := range 5 {
				w.By = fmt.Sprintf("approver-%d", n+1)
				if data, err := json.Marshal(w); err == nil {
					_ = s.Store.Send(ctx, run, data) // a run that gets none times out, which is told
				}
			}
		}
	}()
	return func() {
		s.Observe = nil
		close(asked)
		<-done
	}
}

// observed is what the checks of all steps see now: the state that must be the same after an undo.
func (t *Torture) observed(ctx context.Context, s *Service) (map[string]string, error) {
	p, err := s.Prepare(ctx, t.Request)
	if err != nil {
		return nil, err
	}
	seen := map[string]string{}
	for _, step := range p.Header.Plan.Steps {
		data, err := json.Marshal([]any{step.State, step.Observed})
		if err != nil {
			return nil, fmt.Errorf("compare states: %w", err)
		}
		seen[step.Key] = string(data)
	}
	return seen, nil
}

// takeBack cancels with undo.
func takeBack(st *State) *Order {
	if st.Outcome == Done || st.Outcome == Broken {
		return &Order{Do: "cancel", Undo: true, Reason: "torture"}
	}
	return nil
}

// actor stands between a step and its action.
type actor func(ctx context.Context, task action.Task, on *action.Site, c action.Call) (action.Facts, error)

// twice lets every repeatable act happen twice, and takes the run back.
func (t *Torture) twice(ctx context.Context, o *Ordeal) error {
	return t.undone(ctx, o, "twice", func(ctx context.Context, task action.Task, on *action.Site, c action.Call) (action.Facts, error) {
		out, err := task.Act(ctx, on, c)
		if err != nil || !task.Nature().Repeatable {
			return out, err
		}
		if out, err = task.Act(ctx, on, c); err != nil {
			return out, fmt.Errorf("the second time: %w", err)
		}
		return out, nil
	}, "")
}

// fail lets one step after another fail when it has acted, and takes the run back.
func (t *Torture) fail(ctx context.Context, o *Ordeal) error {
	var ids []string
	each(t.Request.Book.Steps, func(s *Step) {
		if s.Uses != "" {
			ids = append(ids, s.ID)
		}
	})
	for _, id := range ids {
		if err := t.undone(ctx, o, "failed at "+id, func(ctx context.Context, task action.Task, on *action.Site, c action.Call) (action.Facts, error) {
			out, err := task.Act(ctx, on, c)
			if err == nil && idOf(c.Step) == id {
				err = &action.Refusal{Reason: "failed by the torture"}
			}
			return out, err
		}, id); err != nil {
			return err
		}
	}
	return nil
}

// undone runs with an actor in between, takes the run back and compares what the checks see.
func (t *Torture) undone(ctx context.Context, o *Ordeal, test string, act actor, failing string) (err error) {
	o.Tries++
	t.Say(test)
	s, err := t.service(ctx, strings.ReplaceAll(test, " ", "-"))
	if err != nil {
		return err
	}
	s.act = act
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	before, err := t.observed(ctx, s)
	if err != nil {
		return err
	}
	first := true
	st, _, err := t.run(ctx, s, func(st *State) *Order {
		if first && failing == "" && st.Outcome == Broken {
			for _, i := range st.Items {
				if i.Phase == Dead {
					o.Troubles = append(o.Troubles, Trouble{test, i.Key, "it is not repeatable: " + i.Error})
				}
			}
		}
		first = false
		return takeBack(st)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", test, err)
	}
	stays := false
	for _, i := range st.Items {
		if i.Phase == Settled && i.Asks {
			stays = true
			if strings.Contains(i.Error, "irreversible") {
				o.Stays = appendNew(o.Stays, i.Step.ID)
			} else {
				o.Troubles = append(o.Troubles, Trouble{test, i.Key, "it was not undone: " + i.Error})
			}
		}
	}
	if stays {
		return nil
	}
	after, err := t.observed(ctx, s)
	if err != nil {
		return err
	}
	for key, was := range before {
		if after[key] != was {
			o.Troubles = append(o.Troubles, Trouble{test, key, "undone, it is " + after[key] + ", it was " + was})
		}
	}
	return nil
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// kill kills the process before and after every write, lets another go on, and looks at the journal.
func (t *Torture) kill(ctx context.Context, o *Ordeal) error {
	for n := 1; ; n++ {
		came := false
		for _, before := range []bool{true, false} {
			test := fmt.Sprintf("killed at entry %d", n)
			if before {
				test = fmt.Sprintf("killed before entry %d", n)
			}
			t.Say(test)
			store := filepath.Join(t.Folder, strings.ReplaceAll(test, " ", "-"))
			killed, err := t.Child(ctx, store, durable.Moment{Number: n, Before: before}, 0)
			if err != nil {
				return fmt.Errorf("%s: %w", test, err)
			}
			o.Tries++
			if killed {
				came = true
				if _, err := t.Child(ctx, store, durable.Moment{}, 0); err != nil {
					return fmt.Errorf("%s, continued: %w", test, err)
				}
			}
			if err := t.examine(ctx, o, test, store); err != nil {
				return err
			}
		}
		if !came {
			return nil
		}
	}
}

// examine looks at what a crash left, takes the run back as far as it can be, and gives the cluster back.
func (t *Torture) examine(ctx context.Context, o *Ordeal, test, folder string) (err error) {
	store, err := durable.Open(ctx, durable.Options{Folder: folder, Version: Interpreter})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s := &Service{Store: store, Actions: t.Actions, Open: t.Open, Marker: t.Marker, User: "torture", Holder: "torture"}
	runs, err := store.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return err
	}
	run := runs[0].ID
	entries, err := store.Entries(ctx, run)
	if err != nil {
		return err
	}
	trouble := func(step, format string, args ...any) {
		o.Troubles = append(o.Troubles, Trouble{test, step, fmt.Sprintf(format, args...)})
	}
	if err := durable.VerifyChain(entries); err != nil {
		trouble("", "%v", err)
	}
	finished := map[string]bool{}
	for _, entry := range entries {
		var e Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("%s: %w", test, err)
		}
		if e.Kind == Intended && finished[e.Step] {
			trouble(e.Step, "it was finished and began again")
		}
		finished[e.Step] = finished[e.Step] || e.Kind == Verified
	}
	st, err := s.State(ctx, run)
	if err != nil {
		return err
	}
	if st.Outcome != Done {
		asks := false
		for _, i := range st.Items {
			if i.Asks {
				asks = true
				o.Asks = appendNew(o.Asks, i.Step.ID)
			}
		}
		if !asks {
			trouble(st.Position(), "it did not come to its end: %s", st.Status())
		}
	}
	return t.giveBack(ctx, s, run)
}

// giveBack takes a run back as far as it can be.
func (t *Torture) giveBack(ctx context.Context, s *Service, run string) error {
	e, err := s.Execute(ctx)
	if err != nil {
		return err
	}
	err = s.Start(ctx, e, run, Order{Do: "cancel", Undo: true, Reason: "torture"})
	if err == nil {
		err = e.Wait(ctx, run)
	}
	return errors.Join(err, e.Close(ctx))
}

// sleep pauses the owner after its first intent was written, takes the cluster for another meanwhile, and looks that the
// owner acts no more when it wakes.
func (t *Torture) sleep(ctx context.Context, o *Ordeal) (err error) {
	o.Tries++
	t.Say("the owner sleeps " + t.Pause.String())
	folder := filepath.Join(t.Folder, "sleep")
	taken := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { taken <- t.steal(ctx, folder) }()
	slept, err := t.Child(ctx, folder, durable.Moment{Number: 4}, t.Pause)
	if err != nil {
		return fmt.Errorf("the owner sleeps: %w", err)
	}
	cancel()
	if stealing := <-taken; stealing != nil || !slept {
		return fmt.Errorf("the owner sleeps: the cluster could not be taken: %w", stealing)
	}
	store, err := durable.Open(context.WithoutCancel(ctx), durable.Options{Folder: folder, Version: Interpreter})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, err := store.Runs(context.WithoutCancel(ctx))
	if err != nil || len(runs) == 0 {
		return err
	}
	entries, err := store.Entries(context.WithoutCancel(ctx), runs[0].ID)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		var e Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("the owner sleeps: %w", err)
		}
		if e.Kind == Intended && entry.Number > 5 {
			o.Troubles = append(o.Troubles, Trouble{"the owner sleeps", e.Step, "it was not fenced: it acted after another had taken the cluster"})
		}
	}
	awake := context.WithoutCancel(ctx)
	if err := store.Release(awake, leaseName(t.Request.Cluster), "another"); err != nil {
		return err
	}
	return t.giveBack(awake, &Service{Store: store, Actions: t.Actions, Open: t.Open, Marker: t.Marker, User: "torture", Holder: "torture"}, runs[0].ID)
}

// steal takes the cluster's lease from a run whose owner sleeps.
func (t *Torture) steal(ctx context.Context, folder string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		store, err := durable.Open(ctx, durable.Options{Folder: folder, Version: Interpreter})
		if err != nil {
			continue // it is being made
		}
		name := leaseName(t.Request.Cluster)
		lease, err := store.Lease(ctx, name)
		stolen := false
		if err == nil && lease.Holder != "" && time.Now().After(lease.Expires) {
			if err = store.Release(ctx, name, lease.Holder); err == nil {
				_, err = store.Acquire(ctx, name, "another", time.Hour)
				stolen = err == nil
			}
		}
		_ = store.Close()
		if stolen {
			return nil
		}
	}
}
