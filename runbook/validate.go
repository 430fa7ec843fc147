package runbook

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/vm"

	"plimsoll/action"
	"plimsoll/internal/document"
)

var (
	validID   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*$`)
)

// checker walks over a runbook and compiles what it meets.
type checker struct {
	book     *Runbook
	misfits  document.Problems // what could not be read
	problems document.Problems // what was read and makes no sense
	inputs   []string
	seen     []string // ids so far
	programs *programs
}

// validate looks for what makes no sense, beside what could not be read: all of it is told at once.
func (b *Runbook) validate(misfits document.Problems) error {
	c := checker{book: b, misfits: misfits, inputs: document.SortedKeys(b.Inputs), programs: &programs{byText: map[string]*vm.Program{}}}
	if !validName.MatchString(b.Name) {
		c.refuse(b.at.Get("runbook"), "name %q, expected lower-case letters, digits, - and /", b.Name)
	}
	if len(b.Steps) == 0 {
		c.refuse(b.at.Get("steps"), "no steps")
	}
	for _, name := range c.inputs {
		at := b.at.Get("inputs").Get(name)
		if !validID.MatchString(name) {
			c.refuse(at, "input %q, expected lower-case letters, digits and _", name)
		}
		if of := b.Inputs[name].Of; of != "" && (b.Inputs[name].Type != "node" || b.Inputs[of].Type != "cluster") {
			c.refuse(at.Get("of"), "of %q, expected an input of type cluster, for one of type node", of)
		}
		if d := b.Inputs[name].Default; d != nil {
			_, err := b.Inputs[name].read(d)
			c.problems.Add(d, err)
		}
	}
	for i, g := range b.Guardrails {
		at := b.at.Get("guardrails").Items[i]
		c.compile(g.When, scope{any: true}, at.Get("when"))
		if g.Then != GuardPause && g.Then != GuardStop {
			c.refuse(at, "then %q, expected pause or stop", g.Then)
		}
	}
	c.steps(b.Steps, b.at.Get("steps"), nil)
	b.compiled = c.programs
	all := slices.Concat(misfits, c.problems)
	slices.SortStableFunc(all, func(a, b *document.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all.Err()
}

// refuse adds a problem, unless something in that place could not be read, of which it may only be the consequence.
func (c *checker) refuse(at *document.Node, format string, args ...any) {
	if len(c.misfits) > 0 && (at == nil || slices.ContainsFunc(c.misfits, func(p *document.Problem) bool { return at.Holds(p) })) {
		return
	}
	c.problems = append(c.problems, at.Errorf(format, args...))
}

func (c *checker) scope(group *Step, more ...string) scope {
	s := scope{inputs: c.inputs, steps: slices.Clone(c.seen), names: append([]string{"cluster"}, more...)}
	if group != nil {
		s.names = append(s.names, "target")
	}
	return s
}

func (c *checker) compile(text string, s scope, at *document.Node) {
	if text == "" {
		return
	}
	if err := c.programs.compile(text, s, at); err != nil {
		c.problems.Add(at, err)
	}
}

func (c *checker) steps(steps []Step, at *document.Node, group *Step) {
	for i := range steps {
		s, n := &steps[i], at.Items[i]
		switch {
		case !validID.MatchString(s.ID):
			c.refuse(n.Get("id"), "id %q, expected lower-case letters, digits and _", s.ID)
		case c.declared(s):
			c.refuse(n.Get("id"), "id %q is used twice", s.ID)
		}
		c.compile(s.If, c.scope(group), n.Get("if"))
		for _, part := range conditionsWithout(s.If) {
			_ = c.programs.compile(part, c.scope(group), n.Get("if")) // what is wrong with it was said of the whole
		}
		c.step(s, n, group)
		c.seen = append(c.seen, s.ID)
	}
}

// declared tells whether another step has the id of s.
func (c *checker) declared(s *Step) bool {
	twice := false
	EachStep(c.book.Steps, func(other *Step) { twice = twice || other != s && other.ID == s.ID })
	return twice
}

func (c *checker) step(s *Step, n *document.Node, group *Step) {
	if s.Rolling != nil || len(s.Steps) > 0 {
		c.group(s, n, group)
		return
	}
	if s.Uses == "" && s.Approval == nil {
		c.refuse(n, "step %q has no action, expected uses, approval or rolling", s.ID)
	}
	if s.Approval != nil {
		c.text(s.Approval.Note, c.scope(group), n.Get("approval"))
		if s.Approval.Count < 1 || s.Approval.Timeout <= 0 {
			c.refuse(n.Get("approval"), "an approval needs at least one person and a time")
		}
	}
	c.text(s.Cluster, c.scope(group), n.Get("cluster"))
	if s.Uses != "" {
		c.use(s.Uses, s.With, n.Get("uses"), n, group)
	} else if s.Cluster != "" || s.With != nil || s.Undo != nil || s.Verify != nil {
		c.refuse(n, "step %q has no uses, so it cannot have cluster, with, undo or verify", s.ID)
	}
	if s.Undo != nil {
		c.use(s.Undo.Uses, s.Undo.With, n.Get("undo").Get("uses"), n.Get("undo"), group)
	}
	if s.Verify != nil {
		c.compile(s.Verify.That, c.scope(group, "output", "observed", "watch", "baseline"), n.Get("verify").Get("that"))
	}
	c.compile(s.Retry.If, c.scope(group, "error"), n.Get("retry").Get("if"))
	if s.Retry.Max < 0 {
		c.refuse(n.Get("retry"), "%d retries", s.Retry.Max)
	}
}

func (c *checker) group(s *Step, n *document.Node, outer *Step) {
	switch {
	case outer != nil:
		c.refuse(n, "a group inside a group")
		return
	case s.Rolling == nil:
		c.refuse(n, "steps without rolling, expected rolling: {} to execute them for each node")
		return
	case len(s.Steps) == 0:
		c.refuse(n, "rolling without steps")
		return
	case s.Uses != "" || s.Cluster != "" || s.Undo != nil || s.Verify != nil || s.Approval != nil:
		c.refuse(n, "a group takes id, if, rolling and steps; other keys belong to its steps")
	}
	if s.Rolling.MaxUnavailable < 1 {
		c.refuse(n.Get("rolling"), "max_unavailable %d, expected at least 1", s.Rolling.MaxUnavailable)
	}
	c.compile(s.Rolling.Over, c.scope(nil), n.Get("rolling").Get("over"))
	c.steps(s.Steps, n.Get("steps"), s)
}

// use checks the name of an action and those of its inputs; constant values are read as the action will read them.
func (c *checker) use(name string, with *document.Node, at, n *document.Node, group *Step) {
	if at == nil { // there is no key of its own: the place that should have it is told
		at = n
	}
	if name == "" || at == nil {
		c.refuse(at, "no action, expected uses: NAME")
		return
	}
	a, known := action.Find(c.book.Actions, name)
	if !known {
		named := *at
		named.Text = name
		c.problems = append(c.problems, unknownAction(&named, action.Names(c.book.Actions)))
		return
	}
	if with == nil {
		with = &document.Node{Kind: document.Mapping, File: n.File, Line: n.Line, Column: n.Column}
	}
	if with.Kind != document.Mapping {
		c.refuse(with, "%s, expected the inputs of %s", with.Kind, name)
		return
	}
	constant := c.walk(with, c.scope(group, "observed"))
	c.mistyped(a, with)
	if constant {
		_, err := a.Bind(with)
		c.problems.Add(with, err)
		return
	}
	sample := with.Clone() // expressions are only known later: leave them out and look at the rest
	for _, e := range with.Entries {
		if !slices.Contains(a.Inputs(), e.Key) {
			c.problems = append(c.problems, document.UnknownKey(e, a.Inputs()))
			sample.Remove(e.Key)
		} else if hasExpression(e.Value) {
			sample.Remove(e.Key)
		}
	}
	c.problems = append(c.problems, mismatches(a, sample, with)...)
}

// unknownAction does not list what a list of its own is for.
func unknownAction(n *document.Node, known []string) *document.Problem {
	p := document.UnknownName(n, "action", known)
	const few = 12
	if len(known) <= few {
		return p
	}
	short := n.Errorf("unknown action %q", n.Text)
	if short.Hint = p.Hint; short.Hint == "" {
		short.Hint = "plimsoll runbook list --actions"
	}
	return short
}

// mismatches reads the constant inputs one by one, since the others are missing.
func mismatches(a action.Action, sample, with *document.Node) document.Problems {
	var ps document.Problems
	for _, e := range sample.Entries {
		t, _ := a.Input(e.Key)
		ps.Add(e.Value, e.Value.Decode(reflect.New(t).Interface()))
	}
	for _, key := range a.Required() {
		if with.Get(key) == nil {
			ps = append(ps, with.Errorf("%q is missing", key))
		}
	}
	return ps
}

// walk compiles the expressions in n and tells whether there are none.
func (c *checker) walk(n *document.Node, s scope) bool {
	constant := true
	switch n.Kind {
	case document.Scalar:
		return c.text(n.Text, s, n)
	case document.Sequence:
		for _, item := range n.Items {
			constant = c.walk(item, s) && constant
		}
	case document.Mapping:
		for _, e := range n.Entries {
			constant = c.walk(e.Value, s) && constant
		}
	}
	return constant
}

// text compiles the expressions in a text and tells whether there are none.
func (c *checker) text(text string, s scope, at *document.Node) bool {
	if strings.Count(text, "${{") != strings.Count(text, "}}") && strings.Contains(text, "${{") {
		c.refuse(at, "%q: ${{ without its }}", text)
		return false
	}
	parts := pieces(text)
	for i := 1; i < len(parts); i += 2 {
		if parts[i] == "" {
			c.refuse(at, "%q: ${{ }} contains no expression", text)
			return false
		}
		c.compile(parts[i], s, at)
	}
	return len(parts) == 1
}

func hasExpression(n *document.Node) bool {
	if n == nil {
		return false
	}
	if strings.Contains(n.Text, "${{") {
		return true
	}
	return slices.ContainsFunc(n.Items, hasExpression) ||
		slices.ContainsFunc(n.Entries, func(e document.Entry) bool { return hasExpression(e.Value) })
}
