package cql

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

var mayRetireAction = action.Action{
	Name: "cql.may-retire", Version: 1,
	About: "Checks a node before its data is deleted: refuses one that is still a member of the ring, which would lose a replica of its ranges. Where nobody can say, a person is asked.",
	New:   func() action.Task { return &mayRetire{Accept: "no"} },
}

type mayRetire struct {
	Node   string `yaml:"node,required" doc:"The node whose data is to be deleted."`
	Accept string `yaml:"accept_member" doc:"yes: it may still be a member of the ring. Default no."`
}

var (
	_ action.Verifier         = (*mayRetire)(nil)
	_ action.ApprovalDemander = (*mayRetire)(nil)
	_ action.Validator        = (*mayRetire)(nil)
)

func (m *mayRetire) Validate() error {
	if m.Accept != "yes" && m.Accept != "no" {
		return errors.New("accept_member is yes or no")
	}
	return nil
}

func (m *mayRetire) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

// Check always finds it needed: the ring may have changed since it was last asked.
func (m *mayRetire) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{}, Intended: action.Facts{"member": false}}
	if m.Accept == "yes" {
		f.Intended["member"] = "accepted"
		return f, nil
	}
	n, err := on.Node(ctx, m.Node)
	if err != nil {
		return f, err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return f, err
	}
	v, err := r.around(ctx, n)
	switch {
	case ctx.Err() != nil || errors.Is(err, errOtherTables):
		return f, err
	case err != nil:
		f.Reason = fmt.Sprintf("no node tells whether %s is still a member of the ring (%v): are you certain that it is not, or that its data is needed nowhere?", n.Name, err)
		f.Observed[unsure] = true
		return f, nil
	}
	is := v.member(n)
	if f.Observed["member"] = is != nil; is == nil {
		return f, nil
	}
	return f, &hint.PermanentError{Reason: fmt.Sprintf("node %s is still a member of the ring, %s: without its data the ring would lose a replica of its ranges", n.Name, named(*is)),
		Advice: fmt.Sprintf("nothing was deleted. Have it leave first: cql/remove-node -i node=%s. If its data is needed nowhere, or another node is to take its place afterwards (cql/replace-node -i dead=%[1]s): accept_member=yes", n.Name)}
}

// ApprovalReason has a person decide where nobody can tell.
func (m *mayRetire) ApprovalReason(f action.CheckResult) string {
	if doubt, _ := f.Observed[unsure].(bool); doubt {
		return f.Reason
	}
	return ""
}

func (m *mayRetire) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	_, err := m.Check(ctx, on)
	return nil, err
}

// Verify has nothing to add: it only looked.
func (m *mayRetire) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
