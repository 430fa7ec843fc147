// Package execute carries runs out: it prepares and begins them, decides from the journal what is next, does it, and writes down each
// intent before and each result after. Any later process can take a run up where its journal ends.
package execute

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/plan"
)

// Service is what commands and trials use: it plans, begins and follows runs.
type Service struct {
	Store       *durable.Store
	Actions     []action.Action
	Call        func(cluster string) string                                         // the one name of a cluster that people may call differently; nil: names are taken as they are
	Open        func(ctx context.Context, cluster string) (*cluster.Cluster, error) // the caller closes it
	Meter       func(*cluster.Cluster) Meter                                        // nil: guardrails have no data
	Watch       func(context.Context, *cluster.Cluster) (Watched, error)            // reads what runbooks name of a watch; nil: nothing does
	ClusterLock func(*cluster.Cluster) lock.ClusterLock                             // nil, or returning nil: no claim in the cluster itself
	Shared      func(cluster string) []string                                       // which of its servers stand in other clusters of the inventory too; may be nil
	Rules       runbook.Rules                                                       // in production
	User        string                                                              // who asks
	Known       string                                                              // how it is known who that is; "": it is not
	Holder      string                                                              // this process, for people
	TTL         time.Duration                                                       // of the lease; 0: 30 s
	// Observe is told every event as it is written, by the process that executes; it must return at once. May be nil.
	Observe func(run string, e journal.Event, at time.Time)

	// Waiting is told that a run which is to take its cluster by force watches the claim of another first, for how long at most. May be nil.
	Waiting func(cluster string, most time.Duration)

	// Naming is told the name of a run before the run takes its clusters; it may not begin after all. May be nil.
	Naming func(ctx context.Context, run string)

	// Between executes the actions of steps in a fault test; nil: they are called as they are.
	Between Actor
}

func (s *Service) ttl() time.Duration {
	if s.TTL > 0 {
		return s.TTL
	}
	return 30 * time.Second
}

func (s *Service) observe(run string, e journal.Event, entry durable.Entry) {
	if s.Observe != nil {
		s.Observe(run, e, entry.At)
	}
}

// Execute takes the right to execute runs on this state folder; durable.ErrBusy if another process has it. Runs whose process
// died go on, except those that are to get another order instead; what runs still hold that have ended is given back.
func (s *Service) Execute(ctx context.Context, instead ...string) (*durable.Executor, error) {
	e, err := s.Store.Execute(ctx, s.session, instead...)
	if err == nil {
		s.locks().Tidy(ctx)
	}
	return e, err
}

// Request is what a person asks for.
type Request struct {
	Book      *runbook.Runbook
	Cluster   string
	Inputs    map[string]string
	Override  string // the reason to pass a gate by
	BreakLock string // the reason to take a lock whose holder is gone
}

// Prepared is a run that was planned and not begun.
type Prepared struct {
	Header     journal.Header      `json:"header"`
	Expected   time.Duration       `json:"expected_ns,omitempty"` // by earlier runs; 0: not known
	Gate       plan.GateState      `json:"gate"`
	Guardrails []GuardrailReading  `json:"guardrails,omitempty"` // what each guardrail sees now
	Left       []journal.Remainder `json:"left,omitempty"`       // what earlier runs have left undone on its clusters
	Unreleased []lock.Unreleased   `json:"unreleased,omitempty"` // clusters that earlier runs have not given back though they ended
	Lacks      []Lack              `json:"lacks,omitempty"`      // what the accounts would have to be granted
	Room       []Room              `json:"room,omitempty"`       // what steps take of disks
	Held       error               `json:"-"`                    // who has a cluster now: *lock.BusyError, *action.ClaimedError; nil: nobody is known to
	Silent     map[string]string   `json:"silent,omitempty"`     // why a cluster does not tell whether another run has it, by cluster
	Refusing   []string            `json:"refusing,omitempty"`   // those of Silent that answer and refuse the account: no run begins on them
	NoLogin    []string            `json:"no_login,omitempty"`   // those of Refusing that do not even let it log in
	Writers    map[string][]string `json:"writers,omitempty"`    // nodes that accept writes, of clusters in which several do
	Shared     []string            `json:"shared,omitempty"`     // servers of its clusters that stand in others of the inventory too, where its lock does not hold
}

// Prepare plans: it opens the cluster, executes every check, and looks at the gate. It changes nothing.
func (s *Service) Prepare(ctx context.Context, q Request) (_ *Prepared, err error) {
	inputs, err := q.Book.Resolve(q.Inputs)
	if err == nil {
		err = q.Book.CheckInputs(inputs)
	}
	if err != nil {
		return nil, unfit(ctx, s, q, err)
	}
	if s.Call != nil {
		q.Cluster = s.Call(q.Cluster)
		q.Book.Call(inputs, s.Call)
	}
	all := q.Book.Clusters(q.Cluster, inputs)
	on, err := lock.OpenAll(ctx, s.Open, q.Cluster, all)
	if err != nil {
		return nil, err
	}
	if err := q.Book.Fits(on); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	waitOnce(ctx, on, all)
	h := journal.Header{
		Runbook: q.Book.Name, Hash: q.Book.Hash, Text: q.Book.Text, Versions: q.Book.Versions(), Inputs: inputs,
		Cluster: on.Name, By: s.User, Known: s.Known, At: time.Now().UTC(),
		Override: q.Override, BrokenLock: q.BreakLock,
	}
	if h.Environment, err = plan.GravestEnvironment(ctx, on, all); err != nil {
		return nil, err
	}
	if len(all) > 1 {
		h.Clusters = all
	}
	if err := plan.Describe(ctx, on, &h, q.Book); err != nil {
		return nil, s.denied(ctx, on, q.Book, h, err)
	}
	if err := distinct(ctx, on, all); err != nil {
		return nil, err
	}
	if h.Environment == runbook.Production {
		h.Approvers = cmp.Or(s.Rules.Approvers, runbook.ByOther)
	}
	if h.Environment != cluster.Lab {
		if s.Rules.Unread != nil {
			return nil, hint.With(s.Rules.Unread, "signers: in the inventory names the file with the keys that sign approvals: put it there, or correct its name")
		}
		h.Signers = s.Rules.Signers
		if err := signable(q.Book, h.Signers); err != nil {
			return nil, err
		}
	}
	if err := plan.CheckNodes(ctx, q.Book, on, inputs); err != nil {
		return nil, err
	}
	st := &journal.State{Header: h, Book: q.Book, Targets: map[string][]string{}}
	if h.Plan, err = plan.Make(ctx, q.Book, on, st); err != nil {
		return nil, s.denied(ctx, on, q.Book, h, err)
	}
	p := &Prepared{Header: h}
	if h.Plan.MayAct() { // else what earlier runs took says nothing of this one
		p.Expected = time.Duration(s.learn(ctx, q.Book.Name).total(h.Plan) * float64(time.Second))
	}
	for _, name := range h.AllClusters() {
		if s.Shared != nil {
			p.Shared = append(p.Shared, s.Shared(name)...)
		}
		left, err := openRemainders(ctx, s, name, whileOpen(on))
		if err != nil {
			return nil, err
		}
		p.Left = append(p.Left, left...)
	}
	p.Guardrails = s.readGuardrails(ctx, q.Book, on)
	p.Lacks, p.Room = s.lacks(ctx, on, q.Book, h), s.room(ctx, on, q.Book, h)
	s.held(ctx, on, h, p)
	p.Gate, err = plan.CheckGate(ctx, s.Store, s.Rules.Gate, q.Book, h)
	p.Header.Rehearsals = p.Gate.Passed
	return p, err
}

// waitOnce has a plan wait for each node of its clusters once.
func waitOnce(ctx context.Context, on *cluster.Cluster, all []string) {
	for _, name := range all {
		if one, err := on.Cluster(ctx, name); err == nil { // else whoever asks next says so
			cluster.WaitOnce(ctx, one)
		}
	}
}

// unfit is why a runbook does not fit the cluster at all, where it does not: whoever lacks an input need not look for one then.
func unfit(ctx context.Context, s *Service, q Request, lacks error) error {
	if s.Call != nil {
		q.Cluster = s.Call(q.Cluster)
	}
	on, err := s.Open(ctx, q.Cluster)
	if err != nil {
		return lacks
	}
	defer func() { _ = on.Close() }() // nothing was done there
	if err := q.Book.Fits(on); err != nil {
		return err
	}
	return withNodes(ctx, q, on, lacks)
}

// withNodes names the nodes of the cluster where an input that is one was not given.
func withNodes(ctx context.Context, q Request, on *cluster.Cluster, lacks error) error {
	for name, in := range q.Book.Inputs {
		if _, given := q.Inputs[name]; given || in.Type != "node" || in.Of != "" || in.Default != nil {
			continue
		}
		nodes, err := on.List(ctx)
		if err != nil || len(nodes) == 0 {
			return lacks
		}
		names := make([]string, len(nodes))
		for i, n := range nodes {
			names[i] = n.Name
		}
		return hint.With(lacks, "cluster "+on.Name+" has the nodes "+strings.Join(names, ", "))
	}
	return lacks
}

// signable refuses a runbook with a step that is approved with a key, where no keys are known.
func signable(b *runbook.Runbook, signers string) error {
	all := slices.Clone(b.Steps)
	for _, s := range b.Steps {
		all = append(all, s.Steps...)
	}
	for _, s := range all {
		if s.Approval != nil && s.Approval.Signed && signers == "" {
			return hint.With(fmt.Errorf("step %s is approved with a signature, and no keys of people who may sign are known", s.ID),
				"approvals: {signers: FILE} in plimsoll.yaml names a file of allowed signers, as ssh-keygen(1) describes it")
		}
	}
	return nil
}

// distinct refuses clusters that name one server twice: a change of the one node would be one of the other.
func distinct(ctx context.Context, on *cluster.Cluster, all []string) error {
	var clusters []*cluster.Cluster
	for _, name := range all {
		one, err := on.Cluster(ctx, name)
		if err != nil {
			return err
		}
		clusters = append(clusters, one)
	}
	return cluster.Distinct(ctx, clusters...)
}

// Begin makes a run of what was prepared, and takes its clusters for it. Nothing is executed before Start. Once no other run can change the
// clusters, it plans again: *ChangedPlanError if that is another plan by now than the one that a person has read.
func (s *Service) Begin(ctx context.Context, p *Prepared) (run string, err error) {
	if err := p.Gate.Refusal(p.Header.Override); err != nil {
		return "", err
	}
	run = path.Base(p.Header.Runbook) + "-" + strings.ToLower(rand.Text()[:6])
	book, err := runbook.Parse(p.Header.Runbook, []byte(p.Header.Text), s.Actions)
	if err != nil {
		return "", err
	}
	create := func() error {
		data, err := json.Marshal(p.Header)
		if err != nil {
			return fmt.Errorf("begin a run: %w", err)
		}
		return s.Store.Create(ctx, run, data)
	}
	if s.Naming != nil {
		s.Naming(ctx, run)
	}
	if book.Lock == runbook.LockCluster {
		err = s.locks().Lock(ctx, &p.Header, run, func(on *cluster.Cluster) error {
			waitOnce(ctx, on, p.Header.AllClusters())
			if err := samePlan(ctx, book, on, p.Header); err != nil {
				return err
			}
			return create()
		})
	} else {
		err = create()
	}
	if err != nil {
		return "", err
	}
	return run, nil
}

// Tell sends a person's message to a run.
func (s *Service) Tell(ctx context.Context, run string, w journal.Message) error {
	w.By, w.Known = s.User, s.Known
	data, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("send %s: %w", w.Say, err)
	}
	return s.Store.Send(ctx, run, data)
}

// Agree answers a step that asks, in the name of as many people as it needs: for rehearsals, where nobody is asked.
func (s *Service) Agree(ctx context.Context, run string, asked journal.Event, name, reason string) error {
	st, err := s.State(ctx, run)
	if err != nil {
		return err
	}
	i := st.Item(asked.Step)
	if i == nil {
		return fmt.Errorf("run %s has no step %s", run, asked.Step)
	}
	for n := range i.Approvals() {
		w := journal.Message{Say: "approve", Step: asked.Step, Plan: asked.Plan, By: name, Known: "a rehearsal", Reason: reason}
		if n > 0 {
			w.By = fmt.Sprintf("%s, %d", name, n+1)
		}
		data, err := json.Marshal(w)
		if err != nil {
			return fmt.Errorf("send the approval: %w", err)
		}
		if err := s.Store.Send(ctx, run, data); err != nil {
			return err
		}
	}
	return nil
}

// Start begins a run's next session. *ElsewhereError when an executor elsewhere has the run and is not known to be dead.
func (s *Service) Start(ctx context.Context, e *durable.Executor, run string, o journal.Command) error {
	o.By, o.Known = s.User, s.Known
	if o.Do == journal.DoCancel && !o.Undo && o.Leave == "" {
		if st, err := s.State(ctx, run); err == nil { // else the session says why
			o.Undo = st.HalfUndone()
		}
	}
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("begin a session: %w", err)
	}
	return s.refused(ctx, e.Start(ctx, run, data))
}

// State reads how a run stands.
func (s *Service) State(ctx context.Context, run string) (*journal.State, error) {
	return journal.Load(ctx, s.Store, s.Actions, run)
}

// Evidence gathers what proves a run.
func (s *Service) Evidence(ctx context.Context, run string) (journal.Evidence, error) {
	return journal.Gather(ctx, s.Store, run)
}

// OpenRemainders are what earlier runs of this store have left undone on a cluster, and nobody has mended since. What was left on a lab
// is gone with it: another of that name, made later, has nothing of it.
func (s *Service) OpenRemainders(ctx context.Context, cluster string) ([]journal.Remainder, error) {
	return openRemainders(ctx, s, cluster, openToLook(s))
}

// Unreleased are the clusters that a run has not given back though it has ended, and nobody is about to.
func Unreleased(ctx context.Context, s *Service, run string, st *journal.State) ([]lock.Unreleased, error) {
	all, err := s.locks().Unreleased(ctx, run, st)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if executes, err := s.Store.Executes(ctx, run); err != nil || executes {
		return nil, err
	}
	return all, nil
}

// GiveBack gives back what a run that has ended still holds: its process died before it could. It tells whether there was any.
func (s *Service) GiveBack(ctx context.Context, run string) (bool, error) {
	gave, err := s.locks().GiveBack(ctx, run)
	if !errors.Is(err, lock.ErrClaimStays) {
		return gave, err
	}
	advice := "when the cluster answers again, remove it: plimsoll runbook resume " + run + " (the next run from this machine does it too)"
	if st, reading := s.State(ctx, run); errors.Is(err, cluster.ErrNoPrimary) && reading == nil {
		name := hint.Quoted(st.Header.Cluster)
		if len(st.Header.AllClusters()) > 1 {
			name = "NAME"
		}
		advice = fmt.Sprintf("runs from this machine ignore the claim. It is removed once a server accepts writes again: plimsoll runbook plan mysql/failover --cluster %[1]s where the primary is dead, plimsoll runbook plan mysql/promote --cluster %[1]s -i node=NODE where every server answers; then plimsoll runbook resume %[2]s", name, run)
	}
	return gave, hint.With(fmt.Errorf("run %s has ended, but %w", run, err), advice)
}

// Executing says which run a process of the service's store executes on a cluster now; nil if none does. *lock.BusyError.
func Executing(ctx context.Context, s *Service, cluster string) error {
	return s.locks().Executing(ctx, cluster)
}

func (s *Service) locks() *lock.Locks {
	return &lock.Locks{Store: s.Store, Actions: s.Actions, Open: s.Open, ClusterLock: s.ClusterLock, Holder: s.Holder, TTL: s.ttl(), Waiting: s.Waiting, Ended: s.noteRemainders}
}

// Actor executes the action of a step. A fault test puts its own in the place of the plain call.
type Actor func(ctx context.Context, task action.Task, on *cluster.Cluster, c action.Call) (action.Facts, error)
