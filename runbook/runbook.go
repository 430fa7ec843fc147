// Package runbook is the text of a runbook: YAML, read strictly and refused with its place. What it would do, what a run of it has
// written down, whose the cluster is and how it is executed stand in the packages below it.
package runbook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"plimsoll/action"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

// Runbook is a runbook as a person writes it, read and checked.
type Runbook struct {
	Name       string           `yaml:"runbook,required" doc:"Its name, such as mysql/rolling-restart."`
	About      string           `yaml:"about" doc:"What it does, in a sentence."`
	Inputs     map[string]Input `yaml:"inputs" doc:"Values that a person gives when it is run; inputs.NAME in expressions."`
	Lock       Lock             `yaml:"lock" doc:"cluster: one change per cluster at a time. none: for runbooks whose changes cannot collide with others. Default cluster."`
	OnFailure  OnFailure        `yaml:"on_failure" doc:"stop: a failed run stays where it is until a person resumes or cancels it. undo: Plimsoll undoes what it did at once, if every step can be undone. Default stop."`
	Gate       *Gate            `yaml:"gate" doc:"What must have happened before the runbook may run in production. Without a gate it may not, unless the inventory has one for all runbooks."`
	Guardrails []Guardrail      `yaml:"guardrails" doc:"Conditions on metrics; no step begins to act while one is breached."`
	Steps      []Step           `yaml:"steps,required" doc:"Executed one after another."`

	Hash string `yaml:"-"` // of the text: a byte more is another runbook
	Text string `yaml:"-"`

	Unfit error `yaml:"-"` // why this release cannot execute it; only of a run that another one planned

	Actions  []action.Action `yaml:"-"`
	compiled *programs
	at       *document.Node
}

// Input is one thing that a person says.
type Input struct {
	Type    InputType      `yaml:"type" doc:"text, number, integer, boolean, duration, node, list (texts, separated by commas on the command line), cluster or clusters (a list). Other clusters are locked like the run's own. Default text."`
	Default *document.Node `yaml:"default" doc:"Used when no value is given. Without a default the input is required."`
	Enum    []string       `yaml:"enum" doc:"The values that are allowed."`
	Of      string         `yaml:"of" doc:"Of type node: the input of type cluster whose node it is. Default: the run's own cluster."`
	About   string         `yaml:"about" doc:"Description for the person who gives the value."`

	Rehearse Alike `yaml:"rehearse" doc:"For which other values a rehearsal counts: {any: REASON}, {from: LEAST, to: MOST, why: REASON}, or place for names that differ in a lab by nature, such as nodes and clusters. Default: only for the same value."`
}

// Step is one line of a runbook: a use of an action, an approval, or a group that rolls over targets.
type Step struct {
	ID       string         `yaml:"id,required" doc:"Unique in the runbook; steps.ID in expressions."`
	About    string         `yaml:"about" doc:"What it is for."`
	Uses     string         `yaml:"uses" doc:"The action."`
	With     *document.Node `yaml:"with" doc:"The action's inputs. ${{ }} holds an expression."`
	Cluster  string         `yaml:"cluster" doc:"On which cluster it acts, of an input of type cluster. Default: the run's own."`
	If       string         `yaml:"if" doc:"An expression; when it is false the step is skipped."`
	Timeout  time.Duration  `yaml:"timeout" doc:"Of one attempt. Default 10m."`
	Retry    Retry          `yaml:"retry" doc:"What to do when an attempt fails."`
	Undo     *Use           `yaml:"undo" doc:"How to undo the step, if the action itself cannot."`
	Approval *Approval      `yaml:"approval" doc:"A person must agree before the step acts."`
	Verify   *Verify        `yaml:"verify" doc:"What must hold afterwards, besides what the action itself verifies."`
	Rolling  *Rolling       `yaml:"rolling" doc:"Makes the step a group whose steps are executed for each target; target in expressions."`
	Steps    []Step         `yaml:"steps" doc:"Of a group."`
}

// Use is an action with its inputs.
type Use struct {
	Uses string         `yaml:"uses,required"`
	With *document.Node `yaml:"with"`
}

// Verify is a condition over what the step found and put out.
type Verify struct {
	That   string        `yaml:"that,required" doc:"An expression over output and observed, of this step and of steps, and over watched series: watch[\"PROMQL\"], baseline.watch[\"PROMQL\"]."`
	Within time.Duration `yaml:"within" doc:"How long to wait until it holds. Default 0: it must hold at once."`
}

// Rolling is how a group goes over its targets.
type Rolling struct {
	Over           string        `yaml:"over" doc:"An expression for the targets' names. Default cluster.nodes, the primary last."`
	MaxUnavailable int           `yaml:"max_unavailable" doc:"How many targets are changed at the same time. Default 1."`
	Settle         time.Duration `yaml:"settle" doc:"How long to wait for the whole cluster to be healthy before each target. Default 10m."`
}

// Approval is a person's agreement.
type Approval struct {
	Note         string        `yaml:"note" doc:"What the person is asked. ${{ }} holds an expression."`
	Timeout      time.Duration `yaml:"timeout" doc:"The run fails if there is no answer by then. Default 24h."`
	Count        int           `yaml:"count" doc:"How many different people. Default 1."`
	NotRequester bool          `yaml:"not_requester" doc:"The person who began the run does not count. Default false."`
	Signed       bool          `yaml:"signed" doc:"Outside of labs the approval must be signed with a person's ssh key, listed in approvals: {signers: FILE} of the inventory. Default false."`
}

// UnmarshalDocument reads {note: TEXT} and what belongs to it.
func (a *Approval) UnmarshalDocument(n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf(`approval %s, expected {note: "Go on?"}, or {} for an approval without a note`, n.Said())
	}
	type plain Approval // without this method
	return n.Decode((*plain)(a))
}

// Read reads a runbook file and refuses, with its place, everything that can be known to be wrong.
func Read(path string, actions []action.Action) (*Runbook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		advice := "plimsoll init runbook " + hint.Quoted(path) + " writes one to start from; plimsoll runbook list lists those that ship, which have names without .yaml"
		if near := document.NearestPath(path); near != "" {
			advice = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, hint.Missing(fmt.Errorf("read runbook: %w", err), advice)
	}
	return Parse(path, data, actions)
}

// Parse is Read of a text.
func Parse(name string, data []byte, actions []action.Action) (*Runbook, error) {
	b, err := ParseStored(name, data, actions)
	if err == nil {
		err = b.Unfit
	}
	if err == nil {
		err = b.unexplained()
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// ParseStored is Parse of the text of a run that there is, which another release may have taken: what this one does not know of it, such as
// an action that is gone, keeps it from being executed and not from being looked at.
func ParseStored(name string, data []byte, actions []action.Action) (*Runbook, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	if root.Kind != document.Mapping {
		return nil, document.Problems{root.Errorf("%s, expected a mapping that begins with runbook: NAME", root.Kind)}
	}
	if err := document.OtherKind(root, "runbook"); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	b := &Runbook{Actions: actions, Hash: hex.EncodeToString(sum[:]), Text: string(data), at: root}
	var misfits document.Problems
	misfits.Add(root, root.Decode(b))
	meantUses(misfits, root.Get("steps"))
	b.defaults()
	EachStep(b.Steps, func(s *Step) {
		var err error
		s.With, err = handedOver(s.Uses, s.With)
		misfits.Add(root, err)
		if s.Undo != nil {
			s.Undo.With, err = handedOver(s.Undo.Uses, s.Undo.With)
			misfits.Add(root, err)
		}
	})
	b.Unfit = b.validate(misfits)
	return b, nil
}

// meantUses adds to the refusal of run in a step, where a timeline has it, what a runbook has in its place.
func meantUses(misfits document.Problems, steps *document.Node) {
	if steps == nil {
		return
	}
	for _, step := range steps.Items {
		for _, e := range step.Entries {
			for _, p := range misfits {
				if e.Key == "run" && p.Hint == "" && p.Line == e.At.Line && p.Column == e.At.Column {
					p.Hint = `did you mean "uses"? run belongs in the timeline of a trial`
				}
			}
		}
		meantUses(misfits, step.Get("steps"))
	}
}

func (b *Runbook) defaults() {
	if b.Lock == "" {
		b.Lock = LockCluster
	}
	EachStep(b.Steps, func(s *Step) {
		if s.Timeout == 0 {
			s.Timeout = 10 * time.Minute
		}
		if a := s.Approval; a != nil {
			if a.Timeout == 0 {
				a.Timeout = 24 * time.Hour
			}
			if a.Count == 0 {
				a.Count = 1
			}
		}
		if r := s.Rolling; r != nil {
			if r.MaxUnavailable == 0 {
				r.MaxUnavailable = 1
			}
			if r.Settle == 0 {
				r.Settle = 10 * time.Minute
			}
		}
	})
}

// EachStep calls f for every step, those of groups too.
func EachStep(steps []Step, f func(*Step)) {
	for i := range steps {
		f(&steps[i])
		EachStep(steps[i].Steps, f)
	}
}

// Step returns a step by its id.
func (b *Runbook) Step(id string) *Step {
	var found *Step
	EachStep(b.Steps, func(s *Step) {
		if s.ID == id {
			found = s
		}
	})
	return found
}

// Approval returns the id of the first step that a person must approve, "" if there is none.
func (b *Runbook) Approval() string {
	first := ""
	EachStep(b.Steps, func(s *Step) {
		if s.Approval != nil && first == "" {
			first = s.ID
		}
	})
	return first
}

// Acts tells whether the step of a key, such as restart or each[n2].restart, uses an action.
func (b *Runbook) Acts(key string) bool {
	s := b.Step(IDOf(key))
	return s != nil && s.Uses != ""
}

// Looks tells whether the step of a key only looks or waits: what it leaves behind is nothing.
func (b *Runbook) Looks(key string) bool {
	s := b.Step(IDOf(key))
	if s == nil || s.Uses == "" {
		return false
	}
	a, known := action.Find(b.Actions, s.Uses)
	return known && a.New().Traits().Effect == action.None
}

// StepIDs lists the ids of all steps, those of groups too.
func (b *Runbook) StepIDs() []string {
	var ids []string
	EachStep(b.Steps, func(s *Step) { ids = append(ids, s.ID) })
	return ids
}

// Versions lists the version of every action that the runbook uses.
func (b *Runbook) Versions() map[string]int {
	versions := map[string]int{}
	add := func(name string) {
		if a, ok := action.Find(b.Actions, name); ok {
			versions[name] = a.Version
		}
	}
	EachStep(b.Steps, func(s *Step) {
		add(s.Uses)
		if s.Undo != nil {
			add(s.Undo.Uses)
		}
	})
	return versions
}
