package runbook

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
	"plimsoll/engine"
	"plimsoll/hint"
)

// Service is what commands and trials use: it plans, begins and follows runs.
type Service struct {
	Store   *durable.Store
	Actions []action.Action
	Call    func(cluster string) string                                         // the one name of what a person may call differently; nil: as it is said
	Open    func(ctx context.Context, cluster string) (*cluster.Cluster, error) // the caller's site to close
	Meter   func(*cluster.Cluster) Meter                                        // nil: guardrails have no data
	Marker  func(*cluster.Cluster) Marker                                       // nil, or returning nil: no marker in the target
	Rules   Rules                                                               // in production
	User    string                                                              // who asks
	Known   string                                                              // how it is known who that is; "": it is not
	Holder  string                                                              // this process, for people
	TTL     time.Duration                                                       // of the lease; 0: 30 s
	// Observe is told every event as it is written, by the process that executes; it must return at once. May be nil.
	Observe func(run string, e Event, at time.Time)

	act actor // stands between steps and actions in a torture; nil otherwise
}

func (s *Service) ttl() time.Duration {
	if s.TTL > 0 {
		return s.TTL
	}
	return 30 * time.Second
}

func (s *Service) observe(run string, e Event, entry durable.Entry) {
	if s.Observe != nil {
		s.Observe(run, e, entry.At)
	}
}

// Execute takes the right to execute runs on this state folder; durable.ErrBusy if another process has it. Runs whose process
// died go on, except those that are to get another order instead; what runs still hold that have ended is given back.
func (s *Service) Execute(ctx context.Context, instead ...string) (*durable.Executor, error) {
	e, err := s.Store.Execute(ctx, s.stint, instead...)
	if err == nil {
		s.tidy(ctx)
	}
	return e, err
}

// Request is what a person asks for.
type Request struct {
	Book      *Runbook
	Cluster   string
	Inputs    map[string]string
	Override  string // the reason to pass a gate by
	BreakLock string // the reason to take a lock whose holder is gone
}

// Prepared is a run that was planned and not begun.
type Prepared struct {
	Header   Header
	Expected time.Duration // by earlier runs; 0: not known
	Gate     GateState
	Rails    []RailReading // what each guardrail sees now
	Left     []Remainder   // what earlier runs have left undone on its clusters
}

// Prepare plans: it opens the cluster, executes every check, and looks at the gate. It changes nothing.
func (s *Service) Prepare(ctx context.Context, q Request) (_ *Prepared, err error) {
	inputs, err := q.Book.Resolve(q.Inputs)
	if err != nil {
		return nil, err
	}
	if s.Call != nil {
		q.Cluster = s.Call(q.Cluster)
		q.Book.call(inputs, s.Call)
	}
	all := q.Book.clusters(q.Cluster, inputs)
	site, err := s.open(ctx, q.Cluster, all)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	h := Header{
		Runbook: q.Book.Name, Hash: q.Book.Hash, Text: q.Book.Text, Versions: q.Book.Versions(), Inputs: inputs,
		Cluster: site.Name, By: s.User, Known: s.Known, At: time.Now().UTC(),
		Override: q.Override, BrokenLock: q.BreakLock,
	}
	if err := q.Book.fits(site); err != nil {
		return nil, err
	}
	if h.Environment, err = gravest(ctx, site, all); err != nil {
		return nil, err
	}
	if len(all) > 1 {
		h.Clusters = all
	}
	if err := distinct(ctx, site, all); err != nil {
		return nil, err
	}
	if err := describe(ctx, site, &h, q.Book); err != nil {
		return nil, err
	}
	if h.Environment == Production {
		h.Approvers = cmp.Or(s.Rules.Approvers, ByOther)
	}
	if h.Environment != cluster.Lab {
		h.Signers = s.Rules.Signers
		if err := q.Book.signable(h.Signers); err != nil {
			return nil, err
		}
	}
	if err := q.Book.nodesExist(ctx, site, inputs); err != nil {
		return nil, err
	}
	st := &State{Header: h, Book: q.Book, Targets: map[string][]string{}}
	if h.Plan, err = q.Book.plan(ctx, site, st); err != nil {
		return nil, err
	}
	p := &Prepared{Header: h, Expected: time.Duration(s.learn(ctx, q.Book.Name).total(h.Plan) * float64(time.Second))}
	for _, name := range h.clusters() {
		left, err := s.OpenRemainders(ctx, name)
		if err != nil {
			return nil, err
		}
		p.Left = append(p.Left, left...)
	}
	p.Rails = s.rails(ctx, q.Book, site)
	p.Gate, err = s.gate(ctx, q.Book, h)
	p.Header.Rehearsals = p.Gate.Passed
	return p, err
}

// signable refuses a runbook with a step that is approved with a key, where no keys are known.
func (b *Runbook) signable(signers string) error {
	all := slices.Clone(b.Steps)
	for _, s := range b.Steps {
		all = append(all, s.Steps...)
	}
	for _, s := range all {
		if s.Approval != nil && s.Approval.Signed && signers == "" {
			return hint.With(fmt.Errorf("step %s is approved with a signature, and nobody is known who may sign", s.ID),
				"approvals: {signers: FILE} in plimsoll.yaml names a file of allowed signers, as ssh-keygen(1) describes it")
		}
	}
	return nil
}

// distinct refuses clusters that name one server twice: a change of the one node would be one of the other.
func distinct(ctx context.Context, site *cluster.Cluster, all []string) error {
	for _, name := range all {
		on, err := site.Cluster(ctx, name)
		if err == nil {
			err = on.Distinct(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describe fills in what the cluster is.
func describe(ctx context.Context, site *cluster.Cluster, h *Header, b *Runbook) error {
	nodes, err := site.PrimaryFirst(ctx)
	if err != nil {
		return err
	}
	h.Topology = topology(len(nodes))
	if len(nodes) > 0 {
		h.Primary = nodes[0].Name
	}
	if site.Engine == nil || len(nodes) == 0 {
		return nil
	}
	var facts engine.Facts
	err = errors.New("no node answers")
	for _, n := range nodes { // the first may be down: that may be what the runbook is for
		db, openErr := site.Database(ctx, n.Name)
		if openErr != nil {
			continue
		}
		if facts, err = db.Facts(ctx); err == nil {
			if _, parts := engine.As[engine.Replicated](db); parts {
				h.Roles = b.rolesOf(h.Inputs, h.Primary)
			}
			break
		}
	}
	if err == nil {
		h.Product, h.Version = facts.Product, facts.Version
	}
	return nil
}

// topology is the class of a cluster: one node, a pair, or more.
func topology(nodes int) string {
	switch nodes {
	case 0, 1:
		return "single"
	case 2:
		return "pair"
	}
	return "many"
}

// nodesExist refuses an input of type node that the cluster does not have.
func (b *Runbook) nodesExist(ctx context.Context, site *cluster.Cluster, inputs map[string]any) error {
	for name, in := range b.Inputs {
		if in.Type != "node" {
			continue
		}
		on, err := site.Cluster(ctx, textOf(inputs[in.Of]))
		if err == nil {
			_, err = on.Node(ctx, textOf(inputs[name]))
		}
		if err != nil {
			return &InputError{Input: name, Err: err}
		}
	}
	return nil
}

// InputError says that an input names what there is not.
type InputError struct {
	Input string
	Err   error
}

func (e *InputError) Error() string { return fmt.Sprintf("input %s: %v", e.Input, e.Err) }
func (e *InputError) Unwrap() error { return e.Err }

// Begin makes a run of what was prepared, and takes its clusters for it. Nothing is executed before Start.
func (s *Service) Begin(ctx context.Context, p *Prepared) (run string, err error) {
	if err := p.Gate.Refusal(p.Header.Override); err != nil {
		return "", err
	}
	run = path.Base(p.Header.Runbook) + "-" + strings.ToLower(rand.Text()[:6])
	book, err := Parse(p.Header.Runbook, []byte(p.Header.Text), s.Actions)
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
	if book.Lock == LockCluster {
		err = s.lock(ctx, &p.Header, run, create)
	} else {
		err = create()
	}
	if err != nil {
		return "", err
	}
	return run, nil
}

// Tell says a person's word to a run.
func (s *Service) Tell(ctx context.Context, run string, w Word) error {
	w.By, w.Known = s.User, s.Known
	data, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("say %s: %w", w.Say, err)
	}
	return s.Store.Send(ctx, run, data)
}

// Agree answers a step that asks, in the name of as many people as it needs: for rehearsals, where nobody is asked.
func (s *Service) Agree(ctx context.Context, run string, asked Event, name, reason string) error {
	st, err := s.State(ctx, run)
	if err != nil {
		return err
	}
	i := st.Item(asked.Step)
	if i == nil {
		return fmt.Errorf("run %s has no step %s", run, asked.Step)
	}
	for n := range i.approvals() {
		w := Word{Say: "approve", Step: asked.Step, Plan: asked.Plan, By: name, Known: "a rehearsal", Reason: reason}
		if n > 0 {
			w.By = fmt.Sprintf("%s, %d", name, n+1)
		}
		data, err := json.Marshal(w)
		if err != nil {
			return fmt.Errorf("agree: %w", err)
		}
		if err := s.Store.Send(ctx, run, data); err != nil {
			return err
		}
	}
	return nil
}

// Start begins a run's next stint. *ElsewhereError when an executor elsewhere has the run and is not known to be dead.
func (s *Service) Start(ctx context.Context, e *durable.Executor, run string, o Order) error {
	o.By, o.Known = s.User, s.Known
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("begin a stint: %w", err)
	}
	return s.refused(ctx, e.Start(ctx, run, data))
}

// State reads how a run stands.
func (s *Service) State(ctx context.Context, run string) (*State, error) {
	entries, err := s.Store.Entries(ctx, run)
	if err != nil {
		return nil, err
	}
	st, err := Fold(entries, s.Actions)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run, err)
	}
	if len(entries) == 0 {
		r, err := s.Store.Run(ctx, run)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(r.Header, &st.Header); err != nil {
			return nil, fmt.Errorf("read the header of %s: %w", run, err)
		}
	}
	return st, nil
}
