package spec

import (
	"strings"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// sqlName is the action that executes SQL.
const sqlName = "sql.execute"

// readShort reads run: {sql: STATEMENT} or run: {command: TEXT}, with on: NODE, as the use of the action that does it.
func readShort(n *document.Node) (Call, error) {
	said := n.Get("run")
	var short struct {
		SQL     *document.Node `yaml:"sql"`
		Command *document.Node `yaml:"command"`
		On      *document.Node `yaml:"on"`
	}
	if err := said.Decode(&short); err != nil {
		return Call{}, err
	}
	if (short.SQL == nil) == (short.Command == nil) {
		return Call{}, said.Errorf("expected one of sql: STATEMENT and command: TEXT, with on: NODE if it is not for the primary")
	}
	for _, text := range []*document.Node{short.SQL, short.Command} {
		if empty := blank(text); empty != nil {
			return Call{}, empty.Errorf("there is nothing to execute, expected the text of a statement or command")
		}
	}
	rest := n.Clone()
	rest.Remove("run")
	rest.Put("run", &document.Node{Kind: document.Scalar, Text: sqlName, File: said.File, Line: said.Line, Column: said.Column})
	if given := n.Get("with"); given != nil {
		return Call{}, given.Errorf("with belongs to run: NAME; a statement or command is written in run itself")
	}
	with := &document.Node{Kind: document.Mapping, File: said.File, Line: said.Line, Column: said.Column}
	as := "sql"
	if short.SQL != nil {
		statements := short.SQL
		if statements.Kind != document.Sequence {
			statements = &document.Node{Kind: document.Sequence, Items: []*document.Node{short.SQL}, File: said.File, Line: said.Line, Column: said.Column}
		}
		with.Put("statements", statements)
	} else {
		rest.Get("run").Text, as = action.CommandName, "command"
		with.Put("run", short.Command)
	}
	if short.On != nil {
		with.Put("node", short.On)
	}
	rest.Put("with", with)
	var c Call
	err := rest.Decode(&c)
	if c.As == "" {
		c.As = as
	}
	c.At = said
	return c, err
}

// blank is the text among those that were written that is empty; nil if none is.
func blank(n *document.Node) *document.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == document.Sequence && len(n.Items) > 0:
		for _, item := range n.Items {
			if empty := blank(item); empty != nil {
				return empty
			}
		}
		return nil
	case n.Kind == document.Scalar && strings.TrimSpace(n.Text) != "":
		return nil
	}
	return n
}

// bookOf reads the runbook that a call names, or makes one of a single step of the action that it names.
func (p Parts) bookOf(c *Call, named *document.Node) (*runbook.Runbook, error) {
	if !c.Made {
		return p.Runbook(named)
	}
	if c.As == "" {
		c.As = c.Change
	}
	name := strings.ReplaceAll(c.Change, ".", "-")
	text := &document.Node{Kind: document.Mapping}
	put := func(at *document.Node, key, value string) {
		at.Put(key, &document.Node{Kind: document.Scalar, Text: value})
	}
	step := &document.Node{Kind: document.Mapping}
	put(step, "id", strings.ReplaceAll(name, "-", "_"))
	put(step, "uses", c.Change)
	put(step, "timeout", "24h")
	if c.With != nil {
		step.Put("with", c.With)
	}
	put(text, "runbook", MadeForTimeline+name)
	text.Put("steps", &document.Node{Kind: document.Sequence, Items: []*document.Node{step}})
	book, err := runbook.Parse(c.At.File, text.Format(), p.Actions)
	if err != nil { // its places are those of the text that was made: the step is the one to blame
		var ps document.Problems
		ps.Add(c.At, err)
		for i, problem := range ps {
			moved := *problem
			moved.Line, moved.Column = c.At.Line, c.At.Column
			ps[i] = &moved
		}
		return nil, ps
	}
	return book, nil
}

// MadeForTimeline begins the names of runbooks that are made for a step, for people.
const MadeForTimeline = "timeline/"

// checkDatabases refuses SQL of MySQL that names a table without a database where none is chosen: a session of a lab's cluster chooses none.
func (t *Trial) checkDatabases(c *Cell, parts Parts) error {
	e, err := t.engineOf(parts, c.Cluster)
	if err != nil || e == nil || e.Name() != "mysql" || t.Existing != nil && t.Existing.Address.Namespace != "" {
		return err
	}
	var ps document.Problems
	for _, call := range c.Calls() {
		if !call.Made || call.Change != sqlName || call.Refused != "" {
			continue
		}
		texts := textsOf(call.With.Get("statements"))
		table, found := action.WithoutDatabase(texts)
		if !found || strings.Contains(strings.Join(texts, " "), "${{") {
			continue
		}
		refusal := call.At.Errorf("%s: table %s is named without its database, and none is chosen", call.Name(), table)
		if t.Existing == nil && len(c.Load.On) == 0 {
			ps = append(ps, refusal.WithHint("write %[1]s.%[2]s if it is a table of the load, else DATABASE.%[2]s", Namespace, table))
			continue
		}
		ps = append(ps, refusal.WithHint("write DATABASE.TABLE"))
	}
	return ps.Err()
}

// textsOf are the texts of a list, or of a text alone.
func textsOf(n *document.Node) []string {
	if n == nil {
		return nil
	}
	if n.Kind == document.Scalar {
		return []string{n.Text}
	}
	var all []string
	for _, item := range n.Items {
		all = append(all, item.Text)
	}
	return all
}
