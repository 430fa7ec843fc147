package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var sqlAction = Action{
	Name: "sql.execute", Version: 1,
	About: "Executes SQL statements on a node, with a query that checks whether it was already done.",
	New:   func() Task { return &execute{} },
}

type execute struct {
	Node       string   `yaml:"node" doc:"The node. Default: the primary; of a ring, the first."`
	Statements []string `yaml:"statements,required" doc:"The statements, executed one after another on one connection."`
	Query      string   `yaml:"check" doc:"A query that returns one value and tells whether it was done. Without it the statements are always executed."`
	Want       string   `yaml:"want" doc:"With check: the value that means done. NULL is the text NULL."`
	Tables     []string `yaml:"tables" doc:"Tables that must be there before the statements are executed, each as the statements name it. A plan says which is not there."`
	Undone     []string `yaml:"undo" doc:"Statements that undo it. They must be safe to execute twice: an undo that was interrupted is executed again from its first statement."`
	Repeatable bool     `yaml:"repeatable" doc:"Whether it is safe to execute the statements again after they were interrupted half-way. Default false."`
}

var (
	_ Undoer         = (*execute)(nil)
	_ InFlightWaiter = (*execute)(nil)
	_ Verifier       = (*execute)(nil)
	_ Validator      = (*execute)(nil)
)

// Validate refuses statements and tables without a text, and a check without its answer, or the other way round.
func (e *execute) Validate() error {
	blank := func(text string) bool { return strings.TrimSpace(text) == "" }
	switch {
	case len(e.Statements) == 0 || slices.ContainsFunc(e.Statements, blank):
		return errors.New("statements: one is empty, expected the text of at least one statement")
	case slices.ContainsFunc(e.Tables, blank):
		return errors.New("tables: one is empty, expected the name of a table")
	}
	if (e.Query == "") != (e.Want == "") {
		return errors.New("check and want belong together: a query, and its answer when it is done")
	}
	return nil
}

func (e *execute) Traits() Traits {
	if len(e.Undone) > 0 {
		return Traits{Effect: Reversible, Repeatable: e.Repeatable}
	}
	return Traits{Effect: NoUndo, Repeatable: e.Repeatable}
}

func (e *execute) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	statements := strings.Join(e.Statements, "; ")
	if e.Query == "" && len(e.Tables) == 0 {
		if !slices.ContainsFunc(e.Statements, altersTable) {
			return e.always(statements), nil
		}
		node, err := CheckedOn(ctx, on, e.Node)
		if err != nil {
			return e.always(statements), nil //nolint:nilerr // nothing had to be asked; whoever executes them is told
		}
		return e.always(statements), e.understood(ctx, on, node)
	}
	node, err := CheckedOn(ctx, on, e.Node)
	if err != nil {
		return CheckResult{}, err
	}
	if e.Query == "" {
		if err := e.lookForTables(ctx, on, node); err != nil {
			return e.always(statements), err
		}
		return e.always(statements), e.understood(ctx, on, node)
	}
	got, err := on.Value(ctx, node, e.Query)
	if err != nil {
		return CheckResult{}, err
	}
	f := CheckResult{State: Needed, Observed: Facts{"value": got}, Intended: Facts{"value": e.Want}}
	if got == e.Want {
		f.State = Satisfied
	} else {
		f.Intended["statements"] = statements // whoever approves the plan reads them
		if err := e.lookForTables(ctx, on, node); err != nil {
			return f, err
		}
		if err := e.understood(ctx, on, node); err != nil {
			return f, err
		}
	}
	if on.Leads(ctx, node) {
		f.NotePrimary(e.Node, node)
	}
	return f, nil
}

func (e *execute) always(statements string) CheckResult {
	return CheckResult{State: Needed, Intended: Facts{"statements": statements}, Reason: "there is no check: the statements are always executed"}
}

// lookForTables refuses a table that is not there. Of one that the account may not read nothing is known.
func (e *execute) lookForTables(ctx context.Context, on *cluster.Cluster, node string) error {
	for _, table := range e.Tables {
		_, err := on.Column(ctx, node, "SELECT * FROM "+table+" LIMIT 1")
		switch engine.ClassOf(err) {
		case engine.Missing:
			return AbsentTable(table, err)
		case engine.Denied:
			continue
		}
		if err != nil {
			return fmt.Errorf("look for table %s: %w", table, err)
		}
	}
	return nil
}

// understood refuses a statement whose syntax the server does not know, as far as it can be asked. What follows a change of sql_mode is not
// asked about: the server would read it otherwise than the session that executes it.
func (e *execute) understood(ctx context.Context, on *cluster.Cluster, node string) error {
	db, err := on.Database(ctx, node)
	if err != nil {
		return nil //nolint:nilerr // whoever executes them is told
	}
	checks, can := engine.As[engine.SyntaxChecking](db)
	if !can {
		return nil
	}
	for i, statement := range e.Statements {
		if strings.Contains(strings.ToLower(statement), "sql_mode") {
			return nil
		}
		if err := checks.CheckSyntax(ctx, statement); err != nil {
			return &hint.PermanentError{Reason: fmt.Sprintf("statement %d: %v", i+1, err), Advice: "correct the statement: the server does not understand it", Err: err}
		}
	}
	return nil
}

// altersTable tells whether a statement is an ALTER TABLE, of whose syntax a server can be asked.
func altersTable(statement string) bool {
	words := sqlWords(statement, 2)
	return len(words) == 2 && is(words[0], "ALTER") && is(words[1], "TABLE")
}

// AbsentTable refuses a table that is not there.
func AbsentTable(table string, err error) error {
	return &hint.PermanentError{Reason: "there is no table " + table, Advice: "name a table as SHOW TABLES lists it", Err: err}
}

func (e *execute) Act(ctx context.Context, on *cluster.Cluster, c Call) (Facts, error) {
	node, err := c.ActsOn(ctx, on, e.Node)
	if err != nil {
		return nil, err
	}
	err = withHolders(ctx, on, node, c.execute(ctx, on, node, e.Statements))
	if e := (*engine.Error)(nil); errors.As(err, &e) && e.Instead != "" {
		err = &hint.PermanentError{Reason: err.Error(), Advice: instead(e.Instead), Err: err}
	} else if e != nil && e.Do != "" { // a journal keeps the text alone
		err = fmt.Errorf("%w: %s", err, e.Do)
	}
	if err != nil || e.Node != "" || e.Query != "" || len(e.Undone) == 0 || !on.Leads(ctx, node) {
		return nil, err
	}
	return Facts{nodeFact: node}, nil // no check has noted it
}

// instead advises the clause with which a server makes a change that it does not make as it was asked for. What mysql/alter-table takes has its name.
func instead(clause string) string {
	name, value, _ := strings.Cut(strings.ToLower(clause), "=")
	value = strings.ToUpper(value)
	if value == "NOCOPY" { // which INPLACE is there
		value = "INPLACE"
	}
	text := "the server suggests " + clause + " (end this run first: plimsoll runbook cancel RUN): mysql/alter-table -i " + name + "=" + value + " plans the change so"
	if value == "COPY" {
		text += "; nobody can write to the table meanwhile, which -i algorithm=online avoids where pt-online-schema-change or gh-ost is installed"
	}
	return text
}

// withHolders adds to a lock that was not got who may hold it. It is said without where that cannot be found out.
func withHolders(ctx context.Context, on *cluster.Cluster, node string, err error) error {
	if engine.ClassOf(err) != engine.LockTimeout {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	db, failed := on.Database(limited, node)
	if failed != nil {
		return err
	}
	listing, can := engine.As[engine.TransactionListing](db)
	if !can {
		return err
	}
	open, failed := listing.OpenTransactions(limited)
	if failed != nil || len(open) == 0 {
		return err
	}
	return fmt.Errorf("%w; the oldest open transactions, one of which may hold the lock: %s", err, strings.Join(open, ", "))
}

// Verify holds when the check is satisfied; without one the server has said it.
func (e *execute) Verify(ctx context.Context, on *cluster.Cluster, _ Facts) error {
	if e.Query == "" {
		return nil
	}
	got, err := on.Value(ctx, e.Node, e.Query)
	if err == nil && got != e.Want {
		err = fmt.Errorf("the check returned %s, expected %s", got, e.Want)
	}
	return err
}

func (e *execute) Undo(ctx context.Context, on *cluster.Cluster, c Call) error {
	if len(e.Undone) == 0 {
		return &hint.PermanentError{Reason: "the statements have no undo"}
	}
	node, err := e.undoesOn(ctx, on, c)
	if err != nil {
		return err
	}
	return c.execute(ctx, on, node, e.Undone)
}

// execute executes statements, and keeps after each but the last how many the server has acknowledged: of the last, the end of the act tells.
func (c Call) execute(ctx context.Context, on *cluster.Cluster, node string, statements []string) error {
	owned, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var lost error
	err := on.Execute(owned, node, signed(statements, c), func(done int) {
		c.Progress(float64(done)/float64(len(statements)), "")
		if c.Reach == nil || done == len(statements) {
			return
		}
		if lost = c.Reach(fmt.Sprintf("%d of %d statements were acknowledged by the server; statement %d was next", done, len(statements), done+1)); lost != nil {
			stop(lost)
		}
	})
	if lost != nil {
		return lost
	}
	return err
}

// undoesOn is the node that the statements are undone on. What a primary executed may have reached its replicas, as a table does, or not, as a
// setting does: when another is the primary, it cannot be told on which of the two it is to be undone.
func (e *execute) undoesOn(ctx context.Context, on *cluster.Cluster, c Call) (string, error) {
	if e.Node != "" {
		return e.Node, nil
	}
	node, before, err := c.primaryNow(ctx, on)
	if err == nil && before != "" {
		err = &hint.PermanentError{Reason: fmt.Sprintf("the statements were executed on %s, which was the primary, and %s is now", before, node),
			Advice: fmt.Sprintf("execute their undo by hand: on %s what was replicated, on %s what was not; then plimsoll runbook cancel RUN --leave REASON", node, before)}
	}
	return node, err
}

// Signature begins every statement of an intention, so that one that goes on in the server when its Plimsoll has died is found.
func Signature(c Call) string { return "/* plimsoll " + c.Token + " */ " }

func signed(texts []string, c Call) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Signature(c) + text
	}
	return out
}

// AwaitInFlight waits for the end of a statement that goes on in the server.
func (e *execute) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c Call) error {
	return poll.Until(ctx, 200*time.Millisecond, func() (string, error) {
		db, err := on.Database(ctx, e.Node)
		if err != nil {
			return "", fmt.Errorf("look for the command that was started: %w", err)
		}
		watched, ok := engine.As[engine.InFlightCounting](db)
		if !ok {
			return "", errors.New("cannot tell whether one of its statements is still running in the server")
		}
		n, err := watched.Executing(ctx, Signature(c))
		if err != nil {
			return "", fmt.Errorf("look for the command that was started: %w", err)
		}
		if n == 0 {
			return "", nil
		}
		const runs = "a statement that was started before is still running in the server"
		c.Progress(-1, runs)
		return runs, nil
	})
}
