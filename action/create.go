package action

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"plimsoll/cluster"
	"plimsoll/hint"
)

var createAction = Action{
	Name: "server.create", Version: 1,
	About: "Creates an empty, stopped server in a lab, or takes a spare one of the inventory. Its output is node.",
	New:   func() Task { return &create{} },
}

type create struct {
	Node     string            `yaml:"node" doc:"A spare server of the inventory. Empty or new: create one, in a lab."`
	Settings map[string]string `yaml:"settings" doc:"Settings of a created server, on top of the cluster's."`
}

var (
	_ Undoer   = (*create)(nil)
	_ Verifier = (*create)(nil)
)

func (c *create) made() bool { return c.Node == "" || c.Node == "new" }

func (c *create) Traits() Traits { return Traits{Effect: Reversible, Repeatable: true} }

// Check finds a spare server as it is meant to be; one that is to be made is always needed, since only the act knows for which
// intention.
func (c *create) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	if !c.made() {
		_, err := on.Node(ctx, c.Node)
		if errors.Is(err, cluster.ErrNoNode) {
			err = hint.With(err, "create the server, and add it to the nodes of "+on.Name+" in the inventory with spare: true, or name a spare that is there")
		}
		return CheckResult{State: Needed, Intended: Facts{"node": c.Node}}, err
	}
	if on.Grower == nil {
		return CheckResult{}, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not create servers of %s", on.Name),
			Advice: "create one, add it to the inventory with spare: true, and name it"}
	}
	return CheckResult{State: Needed, Intended: Facts{"node": "a new one"}}, nil
}

func (c *create) Act(ctx context.Context, on *cluster.Cluster, call Call) (Facts, error) {
	if !c.made() {
		return Facts{"node": c.Node}, nil
	}
	node, err := on.Grower.Grow(ctx, call.Token, maps.Clone(c.Settings))
	if err != nil {
		return nil, err
	}
	return Facts{"node": node}, nil
}

func (c *create) Verify(ctx context.Context, on *cluster.Cluster, output Facts) error {
	node, _ := output["node"].(string)
	if node == "" {
		return fmt.Errorf("no server was made")
	}
	_, err := on.Node(ctx, node)
	return err
}

// Undo removes a server that was made.
func (c *create) Undo(ctx context.Context, on *cluster.Cluster, call Call) error {
	if !c.made() || on.Grower == nil {
		return nil
	}
	node := on.Grower.Grown(call.Token)
	if node == "" {
		return nil
	}
	if err := mayBeDestroyed(ctx, on, node); err != nil {
		return err
	}
	return on.Grower.Shrink(ctx, node)
}

var destroyAction = Action{
	Name: "server.destroy", Version: 1,
	About: "Stops a server and deletes it with its data, in a lab. Servers that Plimsoll did not create are left alone.",
	New:   func() Task { return &destroy{} },
}

type destroy struct {
	onServer
}

func (d *destroy) Traits() Traits { return Traits{Effect: Irreversible, Repeatable: true} }

func (d *destroy) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	there, err := d.there(ctx, on)
	f := CheckResult{State: Needed, Observed: Facts{"exists": there}, Intended: Facts{"exists": false}}
	switch {
	case err != nil:
		return f, err
	case on.Grower == nil:
		f.State, f.Observed, f.Intended, f.Reason = Satisfied, nil, nil, "Plimsoll did not create this server, and leaves it alone"
	case !there:
		f.State = Satisfied
	}
	return f, nil
}

func (d *destroy) there(ctx context.Context, on *cluster.Cluster) (bool, error) {
	nodes, err := on.List(ctx)
	if err != nil {
		return false, fmt.Errorf("list the nodes of %s: %w", on.Name, err)
	}
	for _, n := range append(nodes, on.Spares...) {
		if n.Name == d.Node {
			return true, nil
		}
	}
	return false, nil
}

func (d *destroy) Act(ctx context.Context, on *cluster.Cluster, _ Call) (Facts, error) {
	if on.Grower == nil {
		return nil, nil
	}
	if err := mayBeDestroyed(ctx, on, d.Node); err != nil {
		return nil, err
	}
	return nil, on.Grower.Shrink(ctx, d.Node)
}

// mayBeDestroyed refuses to destroy a server that is needed. One that alone accepts writes is: those that followed it may not answer.
func mayBeDestroyed(ctx context.Context, on *cluster.Cluster, node string) error {
	if err := on.MayGo(ctx, node); err != nil || !on.Leads(ctx, node) {
		return err
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes of %s: %w", on.Name, err)
	}
	for _, n := range nodes {
		if n.Name != node && on.Leads(ctx, n.Name) || len(nodes) == 1 {
			return nil
		}
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s accepts writes, and no other node that answers does: it may be the primary, and is not deleted", node),
		Advice: "start the nodes that do not answer and try again; if it is the primary, keep it"}
}
