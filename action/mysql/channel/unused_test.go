package channel

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// parts are servers that say which part they play, by address; nil: it does not answer.
type parts map[string]*engine.ReplicationStatus

func (p parts) Name() string { return "mysql" }

func (p parts) Open(_ context.Context, t engine.Target) (engine.Database, error) {
	if p[t.Addresses[0]] == nil {
		return nil, errors.New("connection refused")
	}
	return part{p[t.Addresses[0]]}, nil
}

type part struct{ is *engine.ReplicationStatus }

func (p part) Close() error { return nil }
func (p part) Facts(context.Context) (engine.Facts, error) {
	return engine.Facts{Product: "MySQL"}, nil
}
func (p part) Session(context.Context) (engine.Session, error) { return nil, errors.New("not here") }
func (p part) ReplicationStatus(context.Context) (engine.ReplicationStatus, error) {
	return *p.is, nil
}

// A copy that takes writes is kept beside a source that does not take them, or that nobody can ask; the advice is what can be done.
func TestACopyThatTakesWritesIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		source, copy    *engine.ReplicationStatus
		reason, advised string // "": it may go
	}{
		"beside a source that takes writes": {&engine.ReplicationStatus{}, &engine.ReplicationStatus{}, "", ""},
		"beside a closed source":            {&engine.ReplicationStatus{ReadOnly: true}, &engine.ReplicationStatus{}, "n1 does not: what was written since", "make n1 accept writes again"},
		"beside a silent source":            {nil, &engine.ReplicationStatus{}, "n1 does not answer", "start n1 and try again; or make n2 read-only"},
		"closed, beside a silent source":    {nil, &engine.ReplicationStatus{ReadOnly: true}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := []cluster.Node{{Name: "n1", Target: engine.Target{Addresses: []string{"n1"}}}, {Name: "n2", Target: engine.Target{Addresses: []string{"n2"}}}}
			on := &cluster.Cluster{Name: "shop", Engine: parts{"n1": c.source, "n2": c.copy}, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
			on.AskRoles()
			t.Cleanup(func() { _ = on.Close() })
			r := &restore{}
			r.Source, r.Node = "n1", "n2"
			err := r.unused(t.Context(), on)
			var refusal *hint.PermanentError
			switch {
			case c.reason == "" && err != nil:
				t.Error(err)
			case c.reason != "" && (!errors.As(err, &refusal) || !strings.Contains(refusal.Reason, c.reason) || !strings.Contains(refusal.Advice, c.advised)):
				t.Errorf("%v: %+v", err, refusal)
			}
		})
	}
}

// A server whose data cannot be replaced from here is refused in the plan, with what is there instead.
func TestACopyToAServerOfOthersIsRefusedInThePlan(t *testing.T) {
	server := struct{ cluster.Server }{}
	nodes := []cluster.Node{{Name: "n1", Server: server}, {Name: "n2", Server: server}}
	on := &cluster.Cluster{Name: "shop", List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
	r := &restore{}
	r.Source, r.Node = "n1", "n2"
	_, err := r.Check(t.Context(), on.ReadOnly())
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "the data of node n2 cannot be replaced by a copy from here") ||
		!strings.Contains(refusal.Advice, "mysql/external-replica -i source=n1 -i replica=n2 -i snapshot=restored attaches it") {
		t.Errorf("got %v", err)
	}
}
