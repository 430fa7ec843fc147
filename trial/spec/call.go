package spec

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// Call is the use of a fault, of an action or of a runbook by name.
type Call struct {
	Change  string         `yaml:"run,required"`  // lab/freeze, mysql/rolling-restart, or the path of a runbook, beside the trial
	As      string         `yaml:"as"`            // how phases and events call it; "": by its own name
	With    *document.Node `yaml:"with"`          // its inputs; nil when there are none
	Approve bool           `yaml:"approve"`       // of a runbook: approvals and cautions are answered by the trial
	Limit   time.Duration  `yaml:"limit,nonzero"` // of a runbook: how long its run may take
	Refused string         `yaml:"refused"`       // of a runbook: its plan must be refused by this step
	At      *document.Node `yaml:"-"`

	Book *runbook.Runbook // nil: a fault
	Made bool             // the runbook was made for this step, which names an action
	Said map[string]string
}

// defaultLimit is how long a run may take that names no limit.
const defaultLimit = 10 * time.Minute

func readCall(n *document.Node) (Call, error) {
	if n.Kind == document.Scalar {
		return Call{Change: n.Text, At: n}, nil
	}
	if n.Get("run") != nil && n.Get("run").Kind == document.Mapping {
		return readShort(n)
	}
	var c Call
	err := n.Decode(&c)
	c.At = n.Get("run")
	return c, err
}

// Name is how phases and events call what is run: a runbook in a file has a name of its own.
func (c Call) Name() string {
	switch {
	case c.As != "":
		return c.As
	case c.Book != nil:
		return c.Book.Name
	}
	return c.Change
}

// given returns the call of a runbook with these inputs on top of its own, as far as the runbook takes them.
func (c Call) given(inputs *document.Node) (Call, error) {
	if c.Book == nil || inputs == nil {
		return c, nil
	}
	with := &document.Node{Kind: document.Mapping}
	if c.With != nil && c.With.Kind == document.Mapping {
		with = c.With.Clone()
	}
	for _, e := range inputs.Entries {
		if _, takes := c.Book.Inputs[e.Key]; takes {
			with.Put(e.Key, e.Value)
		}
	}
	var err error
	if c.Said, err = c.Book.Accepts(with, c.At); err != nil {
		return c, err
	}
	c.With = with
	return c, c.possible()
}

// possible refuses inputs of a runbook with which one of its steps could never be done.
func (c Call) possible() error {
	inputs, err := c.Book.Resolve(c.Said)
	if err == nil {
		err = c.Book.Impossible(inputs)
	}
	if err != nil && c.Refused == "" {
		return c.At.Errorf("%s: %v", c.Name(), err)
	}
	return nil
}

// beside is where a file that a trial names stands: beside the trial, unless its path says otherwise.
func beside(name *document.Node) *document.Node {
	if !document.IsPath(name.Text) || filepath.IsAbs(name.Text) {
		return name
	}
	found := *name
	found.Text = filepath.Join(filepath.Dir(name.File), name.Text)
	return &found
}

// onCluster says how to do what a call does to a cluster in production: no trial may.
func (p Parts) onCluster(c *Call, name string) string {
	if _, is := action.Find(p.Actions, c.Change); is {
		return fmt.Sprintf("write a runbook whose step uses %s (plimsoll init runbook change.yaml), then: plimsoll runbook rehearse change.yaml --cluster %s", c.Change, hint.Quoted(name))
	}
	named := *c.At
	named.Text = c.Change
	book := hint.Quoted(beside(&named).Text) + hint.Flags("--cluster", name)
	if c.With != nil {
		for _, e := range c.With.Entries {
			book += hint.Flags("-i", e.Key+"="+runbook.Said(e.Value))
		}
	}
	return "plimsoll runbook rehearse " + book + ", then: plimsoll runbook run " + book
}

// resolve finds what a call means and refuses, with its place, what can never work.
func (p Parts) resolve(c *Call) error {
	if slices.Contains(ownPhases, c.As) {
		return c.At.Errorf("as: %s is the name of a phase that a trial has anyway, expected another", c.As)
	}
	if f, known := p.Fault(c.Change); known {
		if c.Approve || c.Limit > 0 || c.Refused != "" {
			return c.At.Errorf("%s is not a runbook: it cannot have approve, limit or refused", c.Change)
		}
		_, err := f.Use(*c)
		return err
	}
	named := *c.At
	named.Text = c.Change
	n := beside(&named)
	if _, c.Made = action.Find(p.Actions, c.Change); !c.Made && !document.IsPath(n.Text) && !slices.Contains(p.Books, n.Text) {
		refusal := n.Errorf("unknown change, runbook or action %q", n.Text)
		for _, known := range [][]string{p.changeNames(), p.actionNames()} {
			if near := document.Nearest(n.Text, known); near != "" {
				return refusal.WithHint("did you mean %q?", near)
			}
		}
		return refusal.WithHint("plimsoll runbook list, and with --actions, lists those that there are; docs/trial-reference.md those of a lab, such as lab/restart; a runbook of your own is a file that ends in .yaml")
	}
	book, err := p.bookOf(c, n)
	if err != nil {
		return err
	}
	if c.Made {
		if c.Refused != "" {
			c.Refused = book.StepIDs()[0] // it has no other
		}
		c.Book = book
		c.Limit = cmp.Or(c.Limit, defaultLimit)
		return nil
	}
	if c.Said, err = book.Accepts(c.With, c.At); err != nil {
		return err
	}
	if step := book.Approval(); step != "" && !c.Approve {
		return c.At.Errorf("step %s of %s waits for a person", step, book.Name).
			WithHint("approve: true answers approvals in this rehearsal; the run records that the trial did so")
	}
	if steps := book.StepIDs(); c.Refused != "" && !slices.Contains(steps, c.Refused) {
		n := *c.At
		n.Text = c.Refused
		return document.UnknownName(&n, "step that refuses", steps)
	}
	c.Book = book
	if c.Limit == 0 {
		c.Limit = defaultLimit
	}
	return c.possible()
}

// RunsRunbooks tells whether the trial runs any.
func (t *Trial) RunsRunbooks() bool {
	return slices.ContainsFunc(t.Timeline, func(s Step) bool { return s.Call != nil && s.Call.Book != nil }) ||
		slices.ContainsFunc(t.Cells, func(c *Cell) bool {
			return slices.ContainsFunc(c.Prepare, func(call Call) bool { return call.Book != nil })
		})
}

// Calls are the changes of a cell in their order: those that prepare it, then those of its timeline.
func (c *Cell) Calls() []Call {
	all := slices.Clone([]Call(c.Prepare))
	for _, s := range c.Timeline {
		if s.Call != nil {
			all = append(all, *s.Call)
		}
	}
	return all
}

// Settings are those that a change gives servers, as far as its inputs tell.
func (c Call) Settings(p Parts) []map[string]string {
	if c.Book != nil {
		inputs, err := c.Book.Resolve(c.Said)
		if err != nil {
			return nil // it is refused where it is read
		}
		return runbook.SettingsOf(c.Book, inputs)
	}
	f, known := p.Fault(c.Change)
	if !known {
		return nil
	}
	use, err := f.Use(c)
	changes, are := use.Task.(action.SettingsChanger)
	if err != nil || !are {
		return nil
	}
	return []map[string]string{changes.Settings()}
}

// NeedsState tells whether the trial leaves rehearsals, for which it needs the state folder's store.
func (t *Trial) NeedsState() bool { return t.RunsRunbooks() }
