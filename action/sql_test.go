package action

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// A statement without a check has nothing that tells whether it was executed: it is planned as needed, nothing is said to be as it
// was, and it is not done again by itself when it was cut off.
func TestAStatementWithoutACheckTellsNothing(t *testing.T) {
	e := &execute{Statements: []string{"ALTER TABLE t ADD c INT"}}
	gone := &cluster.Cluster{Name: "orders", List: func(context.Context) ([]cluster.Node, error) { return nil, errors.New("nobody answers") }}
	found, err := e.Check(t.Context(), gone)
	if err != nil || found.State != Needed || len(found.Observed) > 0 || found.Reason == "" {
		t.Errorf("%+v, %v", found, err)
	}
	if traits := e.Traits(); traits.Repeatable || traits.Effect != NoUndo {
		t.Errorf("%+v", traits)
	}
}

// What nobody wrote an undo for is not therefore irreversible: DROP INDEX takes ADD INDEX back.
func TestWhatHasNoUndoIsNotSaidToBeIrreversible(t *testing.T) {
	for _, c := range []struct {
		task Task
		want Effect
	}{
		{&execute{Statements: []string{"ALTER TABLE t ADD INDEX i (c)"}}, NoUndo},
		{&execute{Statements: []string{"ALTER TABLE t ADD INDEX i (c)"}, Undone: []string{"ALTER TABLE t DROP INDEX i"}}, Reversible},
		{&command{Run: "true"}, NoUndo},
		{&command{Run: "true", Undone: "true"}, Reversible},
		{&command{Run: "true", Effect: Irreversible}, Irreversible},
		{&command{Run: "true", Effect: None}, None},
	} {
		if is := c.task.Traits().Effect; is != c.want {
			t.Errorf("%+v is %s, expected %s", c.task, is, c.want)
		}
	}
}

// parsing is a server that understands an ALTER TABLE of a name in double quotes only with ANSI_QUOTES, which the session that checks does not have.
type parsing struct {
	obedient
	open error
}

func (p parsing) Open(context.Context, engine.Target) (engine.Database, error) { return p, p.open }
func (p parsing) Session(context.Context) (engine.Session, error)              { return p, nil }
func (parsing) Exec(context.Context, string, *engine.Result) error             { return nil }
func (parsing) CheckSyntax(_ context.Context, statement string) error {
	if strings.Contains(statement, `"`) {
		return &engine.Error{Kind: engine.Invalid, Code: "1064", Text: "You have an error in your SQL syntax"}
	}
	return nil
}

// The syntax of an ALTER TABLE is asked with a check and without; not after a change of sql_mode, by which the server reads it otherwise.
func TestTheSyntaxOfAnAlterTableIsAsked(t *testing.T) {
	const alter = `ALTER TABLE "orders" ADD COLUMN note INT`
	for _, c := range []struct {
		statements []string
		query      string
		tables     []string
		open       error
		refused    string
	}{
		{statements: []string{alter}, refused: "statement 1: "},
		{statements: []string{alter}, tables: []string{"orders"}, refused: "statement 1: "},
		{statements: []string{alter}, query: "SELECT 0", refused: "statement 1: "},
		{statements: []string{"SET SESSION sql_mode='ANSI_QUOTES'", alter}},
		{statements: []string{"SET SESSION sql_mode='ANSI_QUOTES'", alter}, query: "SELECT 0"},
		{statements: []string{"set @@SQL_MODE := 'ANSI'", alter}, tables: []string{"orders"}},
		{statements: []string{"SET SESSION lock_wait_timeout = 5", alter}, refused: "statement 2: "},
		{statements: []string{alter, "SET SESSION sql_mode='ANSI_QUOTES'"}, refused: "statement 1: "},
		{statements: []string{alter}, open: errors.New("it is down")}, // as before, who executes it is told
	} {
		on := &cluster.Cluster{Name: "orders", Engine: parsing{open: c.open}, List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "a", Target: engine.Target{Addresses: []string{"a"}}}}, nil
		}}
		e := &execute{Node: "a", Statements: c.statements, Query: c.query, Tables: c.tables}
		if c.query != "" {
			e.Want = "1"
		}
		found, err := e.Check(t.Context(), on)
		if found.State != Needed || (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%q, check %q, tables %q: %s, %v, expected %q", c.statements, c.query, c.tables, found.State, err, c.refused)
		}
	}
}
