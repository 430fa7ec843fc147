package runbook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

// Plan is what a runbook would do now: every check was executed for real, and nothing was changed.
type Plan struct {
	Runbook string     `json:"runbook"`
	Steps   []PlanStep `json:"steps"`
	Hash    string     `json:"hash"` // of all that an approval agrees to
}

// PlanStep is what one step would do.
type PlanStep struct {
	Key      string        `json:"key"`
	Uses     string        `json:"uses,omitempty"`
	Cluster  string        `json:"cluster,omitempty"` // on which it acts, if not the run's own
	Version  int           `json:"version,omitempty"`
	Effect   action.Effect `json:"effect,omitempty"`
	Inputs   action.Facts  `json:"inputs,omitempty"`
	State    action.State  `json:"state,omitempty"`
	Observed action.Facts  `json:"observed,omitempty"`
	Intended action.Facts  `json:"intended,omitempty"`
	Skip     bool          `json:"skip,omitempty"`
	Reason   string        `json:"reason,omitempty"`   // why unknown, or what the check failed with; not part of the hash
	Advice   string        `json:"advice,omitempty"`   // of a refusal: what to do; not part of the hash
	Later    []string      `json:"later,omitempty"`    // what is known only when these steps have run
	Approval string        `json:"approval,omitempty"` // the note of the approval it waits for
	Signed   bool          `json:"signed,omitempty"`   // that approval is signed with a person's ssh key
	Caution  string        `json:"caution,omitempty"`  // why the action itself demands one
	Failed   bool          `json:"failed,omitempty"`   // its check could not be executed
}

// Group tells whether it stands for a rolling group whose targets are known only later.
func (s PlanStep) Group() bool { return s.Uses == "" && s.Approval == "" && len(s.Later) > 0 }

// plan executes every check on a site on which nothing can be changed.
func (b *Runbook) plan(ctx context.Context, site *cluster.Cluster, st *State) (Plan, error) {
	p := Plan{Runbook: b.Name}
	reading := site.ReadOnly()
	defer func() { _ = reading.Close() }() // it only read
	nodes, err := nodeNames(ctx, reading)
	if err != nil {
		return p, err
	}
	for n := range b.Steps {
		step := &b.Steps[n]
		if step.Rolling == nil {
			p.Steps = append(p.Steps, b.planStep(ctx, reading, st, &Item{Key: step.ID, Step: step}, nodes))
			continue
		}
		targets, err := b.targets(step, st, nodes)
		if later := stepsOf(step.Rolling.Over); len(later) > 0 {
			p.Steps = append(p.Steps, PlanStep{Key: step.ID, Later: later})
			continue
		}
		if err != nil {
			return p, err
		}
		for _, target := range targets {
			for m := range step.Steps {
				s := &step.Steps[m]
				p.Steps = append(p.Steps, b.planStep(ctx, reading, st, &Item{Key: Key(step.ID, target, s.ID), Step: s, Group: step.ID, Target: target}, nodes))
			}
		}
	}
	p.Hash = p.hash(st.Header)
	return p, ctx.Err()
}

func (b *Runbook) planStep(ctx context.Context, site *cluster.Cluster, st *State, i *Item, nodes []string) PlanStep {
	s := i.Step
	p := PlanStep{Key: i.Key, Uses: s.Uses, Later: b.later(s)}
	if s.Approval != nil {
		p.Approval, p.Signed = "Go on?", s.Approval.Signed && st.Header.Environment != cluster.Lab
		if note, err := b.compiled.fill(s.Approval.Note, st.env(i)); err != nil {
			p.Approval = s.Approval.Note // it speaks of what is known later
		} else if textOf(note) != "" {
			p.Approval = textOf(note)
		}
	}
	if a, ok := action.Find(b.actions, s.Uses); ok {
		p.Version = a.Version
	}
	if len(p.Later) > 0 {
		return p
	}
	v, err := b.value(st, i, nodes)
	p.Inputs, p.Cluster, p.Skip = v.inputs, v.cluster, v.skip
	if err != nil || v.skip || s.Uses == "" {
		if err != nil {
			p.Failed, p.Reason = true, oneLine(err)
		}
		return p
	}
	task, err := b.bind(s.Uses, v.inputs)
	if err == nil {
		site, err = site.Cluster(ctx, v.cluster)
	}
	if err != nil {
		p.Failed, p.Reason = true, oneLine(err)
		return p
	}
	p.Effect = task.Traits().Effect
	limited, cancel := context.WithTimeout(ctx, min(s.Timeout, time.Minute))
	defer cancel()
	f, err := task.Check(limited, site)
	if err != nil {
		p.Failed, p.Reason = true, oneLine(err)
		var refusal *hint.PermanentError
		if errors.As(err, &refusal) {
			p.Advice = refusal.Advice
		}
		return p
	}
	p.State, p.Observed, p.Intended, p.Reason = f.State, f.Observed, f.Intended, f.Reason
	if c, ok := task.(action.ApprovalDemander); ok && f.State == action.Needed {
		p.Caution = c.ApprovalReason(f)
	}
	return p
}

// later lists the steps whose output the step's inputs or condition need.
func (b *Runbook) later(s *Step) []string {
	names := stepsOf(s.If)
	var walk func(*document.Node)
	walk = func(n *document.Node) {
		if n == nil {
			return
		}
		for i, part := range pieces(n.Text) {
			if i%2 == 1 {
				names = append(names, stepsOf(part)...)
			}
		}
		for _, item := range n.Items {
			walk(item)
		}
		for _, e := range n.Entries {
			walk(e.Value)
		}
	}
	walk(s.With)
	walk(&document.Node{Text: s.Cluster})
	slices.Sort(names)
	return slices.Compact(names)
}

// hash covers what a person agrees to: the text, the inputs, the place, and of every step what was seen and is meant.
func (p Plan) hash(h Header) string {
	steps := slices.Clone(p.Steps)
	for i := range steps {
		steps[i].Reason, steps[i].Advice = "", ""
	}
	data, err := json.Marshal(struct {
		Hash, Cluster, Environment string
		Inputs                     map[string]any
		Versions                   map[string]int
		Steps                      []PlanStep
	}{h.Hash, h.Cluster, h.Environment, h.Inputs, h.Versions, steps})
	if err != nil {
		panic("runbook: a plan that is no JSON: " + err.Error()) // its parts came from JSON or YAML
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Trouble lists why a run that began now would stop, with what to do as its hint. Steps that are refused with the same advice,
// as those of a rolling group are, stand together.
func (p Plan) Trouble() error {
	var all error
	var advice []string
	for n, s := range p.Steps {
		switch {
		case s.State == action.Unknown:
			all = errors.Join(all, fmt.Errorf("step %s: it cannot be told whether it is needed: %s", s.Key, s.Reason))
		case s.Failed && (s.Advice == "" || !slices.Contains(advice, s.Advice)):
			all = errors.Join(all, p.failed(n))
			if s.Advice != "" {
				advice = append(advice, s.Advice)
			}
		}
	}
	if len(advice) > 0 {
		return hint.With(all, strings.Join(advice, "; "))
	}
	return all
}

// failed says why a step cannot be checked, and which after it cannot either for the same want.
func (p Plan) failed(n int) error {
	first, keys, reason := p.Steps[n], []string{p.Steps[n].Key}, p.Steps[n].Reason
	for _, s := range p.Steps[n+1:] {
		if first.Advice != "" && s.Failed && s.Advice == first.Advice {
			keys = append(keys, s.Key)
			if s.Reason != first.Reason {
				reason = first.Reason + ", and the like of the others"
			}
		}
	}
	if len(keys) == 1 {
		return fmt.Errorf("step %s cannot be checked: %s", first.Key, reason)
	}
	return fmt.Errorf("steps %s cannot be checked: %s", strings.Join(keys, ", "), reason)
}

// valued is what a step's expressions came to.
type valued struct {
	inputs  map[string]any
	cluster string
	skip    bool
}

// value evaluates a step's condition, its cluster and its inputs.
func (b *Runbook) value(st *State, i *Item, nodes []string) (v valued, err error) {
	env := st.env(i)
	env["cluster"].(map[string]any)["nodes"] = nodes
	if i.Step.If != "" {
		ok, err := b.compiled.truth(i.Step.If, env)
		if err != nil || !ok {
			return valued{skip: err == nil}, err
		}
	}
	on, err := b.compiled.fill(i.Step.Cluster, env)
	if err != nil {
		return v, err
	}
	if v.cluster = textOf(on); v.cluster == st.Header.Cluster {
		v.cluster = ""
	}
	filled, err := b.compiled.fillNode(i.Step.With, env)
	if err != nil || filled == nil {
		return v, err
	}
	v.inputs, _ = filled.Plain().(map[string]any)
	return v, nil
}

// bind makes a task of an action's name and its evaluated inputs.
func (b *Runbook) bind(uses string, inputs map[string]any) (action.Task, error) {
	a, ok := action.Find(b.actions, uses)
	if !ok {
		return nil, fmt.Errorf("there is no action %s", uses)
	}
	return a.Bind(nodeOf(inputs, &document.Node{File: b.Name + " " + uses}))
}

// targets evaluates what a group goes over; by default all nodes, the first, which is the primary, last.
func (b *Runbook) targets(s *Step, st *State, nodes []string) ([]string, error) {
	if s.Rolling.Over == "" {
		if len(nodes) == 0 {
			return nil, nil
		}
		return append(slices.Clone(nodes[1:]), nodes[0]), nil
	}
	env := st.env(nil)
	env["cluster"].(map[string]any)["nodes"] = nodes
	out, err := b.compiled.run(s.Rolling.Over, env)
	if err != nil {
		return nil, err
	}
	var targets []string
	switch out := out.(type) {
	case []string:
		targets = slices.Clone(out)
	case []any:
		for _, v := range out {
			targets = append(targets, textOf(v))
		}
	default:
		return nil, fmt.Errorf("step %s: %q is %v, expected a list", s.ID, s.Rolling.Over, out)
	}
	seen := map[string]bool{}
	for _, t := range targets {
		if t == "" || seen[t] || strings.ContainsAny(t, "[]") {
			return nil, fmt.Errorf("step %s: target %q is empty, is listed twice or holds brackets", s.ID, t)
		}
		seen[t] = true
	}
	return targets, nil
}

func nodeNames(ctx context.Context, site *cluster.Cluster) ([]string, error) {
	nodes, err := site.PrimaryFirst(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return names, nil
}
