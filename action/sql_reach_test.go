package action

import (
	"context"
	"errors"
	"slices"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// obedient is a server that notes what it was told.
type obedient struct{ told *[]string }

func (o obedient) Name() string                                                 { return "obedient" }
func (o obedient) Open(context.Context, engine.Target) (engine.Database, error) { return o, nil }
func (o obedient) Session(context.Context) (engine.Session, error)              { return o, nil }
func (o obedient) Facts(context.Context) (engine.Facts, error)                  { return engine.Facts{}, nil }
func (o obedient) Close() error                                                 { return nil }
func (o obedient) Interrupt()                                                   {}
func (o obedient) Prepare(context.Context, string) (engine.Statement, error)    { return nil, nil }

func (o obedient) Exec(ctx context.Context, text string, _ *engine.Result) error {
	if ctx.Err() != nil {
		return engine.Ended(ctx, true)
	}
	*o.told = append(*o.told, text)
	return nil
}

// What cannot be kept in the journal would be unknown after a kill: no statement follows it. After the last one the act ends, which tells.
func TestStatementsGoOnOnlyWhenItIsKeptHowFarTheyCame(t *testing.T) {
	full := errors.New("the journal is full")
	for name, c := range map[string]struct {
		fails error
		told  int
		kept  []string
	}{
		"kept":     {nil, 3, []string{"1 of 3 statements were acknowledged by the server; statement 2 was next", "2 of 3 statements were acknowledged by the server; statement 3 was next"}},
		"not kept": {full, 1, []string{"1 of 3 statements were acknowledged by the server; statement 2 was next"}},
	} {
		o := obedient{&[]string{}}
		on := &cluster.Cluster{Name: "c", Engine: o, List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "n1", Target: engine.Target{Addresses: []string{"n1"}}}}, nil
		}}
		var kept []string
		call := Call{Progress: func(float64, string) {}, Reach: func(text string) error {
			kept = append(kept, text)
			return c.fails
		}}
		task := &execute{Node: "n1", Statements: []string{"ONE", "TWO", "THREE"}}
		if _, err := task.Act(t.Context(), on, call); !errors.Is(err, c.fails) || len(*o.told) != c.told || !slices.Equal(kept, c.kept) {
			t.Errorf("%s: %v, told %q, kept %q", name, err, *o.told, kept)
		}
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}
}
