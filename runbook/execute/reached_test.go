package execute

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/runbooktest"
)

// hanging is an engine whose one server acknowledges statements until it meets one that hangs.
type hanging struct {
	hangs string        // in a statement's text
	met   chan struct{} // takes a token each time
	did   *[]string
}

func (h hanging) Name() string { return "hanging" }

func (h hanging) Open(context.Context, engine.Target) (engine.Database, error) { return h, nil }

func (h hanging) Session(context.Context) (engine.Session, error) { return h, nil }

func (h hanging) Facts(context.Context) (engine.Facts, error) { return engine.Facts{}, nil }

func (h hanging) Close() error { return nil }

func (h hanging) Interrupt() {}

func (h hanging) Prepare(context.Context, string) (engine.Statement, error) { return nil, nil }

func (h hanging) Exec(ctx context.Context, text string, _ *engine.Result) error {
	_, statement, _ := strings.Cut(text, "*/ ")
	if h.hangs != "" && strings.Contains(text, h.hangs) {
		h.met <- struct{}{}
		<-ctx.Done()
		return engine.Ended(ctx, true)
	}
	if statement != "" {
		*h.did = append(*h.did, statement)
	}
	return nil
}

// Executing finds nothing: a server ends the statement of a connection that is gone.
func (h hanging) Executing(context.Context, string) (int, error) { return 0, nil }

const statements = `
runbook: test/statements
steps:
  - id: a
    uses: sql.execute
    with: {node: n1, statements: [ONE, TWO, THREE], undo: [UNDO ONE, UNDO TWO]}
`

// killedAt runs a session until a statement hangs, and leaves it as if the process had died.
func killedAt(t *testing.T, b *bench, h *hanging, run, statement string, o journal.Command) *journal.State {
	t.Helper()
	h.hangs = statement
	e := b.started(run, o)
	<-h.met
	h.hangs = ""
	over, end := context.WithCancel(t.Context())
	end()
	_ = e.Close(over) // it says that it leaves the session
	return b.stateOf(run)
}

// nextProcess executes what the one that died left, and then what it is told instead; no command: nothing else.
func nextProcess(t *testing.T, b *bench, run string, o journal.Command) *journal.State {
	t.Helper()
	var instead []string
	if o.Do != "" {
		instead = []string{run}
	}
	e, err := b.Execute(t.Context(), instead...)
	if err == nil && o.Do != "" {
		err = b.Start(t.Context(), e, run, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
		t.Error(err)
	}
	return b.stateOf(run)
}

// Statements without a check tell nothing of themselves afterwards: which of them the server acknowledged stands in the journal.
func TestStatementsThatAreCutOffTellHowFarTheyCame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := &hanging{met: make(chan struct{}, 1), did: &[]string{}}
	b.Open = func(_ context.Context, name string) (*cluster.Cluster, error) {
		on, err := runbooktest.NewCluster(name, "lab", "n1")
		if err != nil {
			return nil, err
		}
		on.Engine = h
		nodes, err := on.List(t.Context())
		nodes[0].Target = engine.Target{Addresses: []string{"n1"}}
		on.List = func(context.Context) ([]cluster.Node, error) { return nodes, err }
		return on, err
	}
	run := b.begin(Request{Book: b.parse(statements)})
	const reached = "2 of 3 statements were acknowledged by the server; statement 3 was next"
	st := killedAt(t, b, h, run, "THREE", journal.Command{Do: "run"})
	if i := st.Item("a"); i.Reached != reached || i.Phase != journal.StepActing {
		t.Errorf("after a kill: %s, %q", i.Phase, i.Reached)
	}
	st = nextProcess(t, b, run, journal.Command{})
	if i := st.Item("a"); !strings.Contains(i.Error, "interrupted while it acted ("+reached+") and is not safe to repeat") || strings.Contains(i.Error, "resume") || i.Advice != "check the cluster, then plimsoll runbook resume "+run+" repeats it" || len(*h.did) != 2 {
		t.Errorf("resumed: %q, it did %q", i.Error, *h.did)
	}
	st = killedAt(t, b, h, run, "UNDO TWO", journal.Command{Do: "cancel", Undo: true})
	if i := st.Item("a"); i.Phase != journal.StepUndoing || i.Reached != "1 of 2 statements were acknowledged by the server; statement 2 was next" {
		t.Errorf("a kill in the undo: %s, %q", i.Phase, i.Reached)
	}
	st = nextProcess(t, b, run, journal.Command{})
	if i := st.Item("a"); st.Outcome != journal.RunUndone || i.Reached != "" {
		t.Errorf("%q, %q", st.Outcome, i.Reached)
	}
	// What a person is told who would give such a cluster back.
	run = b.begin(Request{Book: b.parse(strings.Replace(statements, ", undo: [UNDO ONE, UNDO TWO]", "", 1))})
	killedAt(t, b, h, run, "TWO", journal.Command{Do: "run"})
	if st := nextProcess(t, b, run, journal.Command{Do: "cancel"}); !strings.Contains(st.Refused, "1 of 3 statements were acknowledged") {
		t.Errorf("cancelled: %q", st.Refused)
	}
}
