package action

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// held is a server on which a table is held by an open transaction.
type held struct {
	obedient
	refuses error
}

func (h held) Open(context.Context, engine.Target) (engine.Database, error) { return h, nil }
func (h held) Session(context.Context) (engine.Session, error)              { return h, nil }
func (h held) Exec(context.Context, string, *engine.Result) error           { return h.refuses }
func (h held) OpenTransactions(context.Context) ([]string, error) {
	return []string{"connection 34 of app@10.0.0.3:5120 for 3m12s"}, nil
}

// Who waited for a lock in vain is told who may hold it; whoever was refused for another reason is not.
func TestALockThatIsNotGotNamesTheOpenTransactions(t *testing.T) {
	for class, told := range map[engine.Class]bool{engine.LockTimeout: true, engine.Invalid: false} {
		h := held{refuses: &engine.Error{Kind: class, Code: "1205", Text: "no luck"}}
		on := &cluster.Cluster{Name: "orders", Engine: h, List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "a", Target: engine.Target{Addresses: []string{"a"}}}}, nil
		}}
		e := &execute{Node: "a", Statements: []string{"ALTER TABLE t ADD c INT"}}
		_, err := e.Act(t.Context(), on, Call{Progress: func(float64, string) {}})
		var refused *engine.Error
		if !errors.As(err, &refused) || engine.ClassOf(err) != class {
			t.Fatalf("%s: %v", class, err)
		}
		if got := strings.Contains(err.Error(), "; the oldest open transactions, one of which may hold the lock: connection 34 of app@10.0.0.3:5120 for 3m12s"); got != told {
			t.Errorf("%s: %v", class, err)
		}
	}
}
