package channel

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var restoreSnapshot = action.Action{
	Name: "mysql.restore-snapshot", Version: 1,
	About: "Restores a snapshot of another server's data to a server, as a volume snapshot would, and runs crash recovery. In a lab; elsewhere your platform restores the snapshot.",
	New:   func() action.Task { return &restore{} },
}

type restore struct {
	Source string `yaml:"source,required" doc:"The node whose data is copied. It keeps serving; a lab pauses it while files are copied, which a real snapshot does not need."`
	Node   string `yaml:"node,required" doc:"The node that receives the data. It must have no databases of its own; its files are kept for an undo."`
}

var _ action.Undoer = (*restore)(nil)

func (r *restore) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// servers are the two, as they can be worked on their hosts.
func (r *restore) servers(ctx context.Context, on *cluster.Cluster) (source cluster.Node, node cluster.Node, copies cluster.Copyable, err error) {
	if source, err = on.Node(ctx, r.Source); err != nil {
		return source, node, nil, err
	}
	if node, err = on.Node(ctx, r.Node); err != nil {
		return source, node, nil, err
	}
	copies, ok := cluster.As[cluster.Copyable](node.Server)
	if !ok || source.Server == nil {
		return source, node, nil, &hint.PermanentError{
			Reason: fmt.Sprintf("the data of node %s cannot be replaced by a copy from here", node.Name),
			Advice: fmt.Sprintf("restore a snapshot of node %[1]s to it with your platform's tools; then mysql/external-replica -i source=%[1]s -i replica=%[2]s -i snapshot=restored attaches it", source.Name, node.Name),
		}
	}
	return source, node, copies, nil
}

func (r *restore) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	source, node, copies, err := r.servers(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	of, err := copies.CopyOf(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	running, err := node.Server.Running(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"data": "its own"}, Intended: action.Facts{"data": "a copy of " + source.Name}}
	if of != "" {
		f.Observed["data"] = "a copy of " + of
	}
	switch {
	case of == source.Name && running:
		f.State = action.Satisfied
	case !running:
		f.Reason = "it does not run"
	case of != "":
		return f, &hint.PermanentError{Reason: fmt.Sprintf("node %s holds a copy of %s already", node.Name, of), Advice: "undo that run first"}
	default:
		if silent := on.Answers(ctx, node.Name); silent == nil {
			err = r.mayReplace(ctx, on)
		} else { // it may be on its way down, after an act was cut off
			f.Reason = silent.Error()
		}
	}
	return f, err
}

// mayReplace refuses to replace data that somebody could miss, and to copy what a crash would not leave whole.
func (r *restore) mayReplace(ctx context.Context, on *cluster.Cluster) error {
	source, node, err := pair(ctx, on, r.Source, r.Node)
	if err != nil {
		return err
	}
	defer closeAll(source, node)
	has, err := node.databases(ctx)
	if err != nil {
		return err
	}
	if len(has) > 0 {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("node %s has databases of its own: %s", node.name, strings.Join(has, ", ")), Advice: "name an empty server, or drop them",
		}
	}
	follows, err := source.states(ctx)
	if err != nil {
		return err
	}
	if len(follows) > 0 {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("node %s is itself a replica of %s: a copy of it would replicate from the same source at once", source.name, follows[0].Source),
			Advice: "take the snapshot of " + follows[0].Source,
		}
	}
	unsafe, err := source.rows(ctx, "SELECT CONCAT(table_schema, '.', table_name) AS t, engine FROM information_schema.tables WHERE table_type = 'BASE TABLE' "+
		"AND engine <> 'InnoDB' AND table_schema NOT IN ("+admin.Texts(systemDatabases)+") LIMIT 1")
	if err != nil {
		return err
	}
	if len(unsafe) > 0 {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("table %s of %s is %s: a snapshot of a running server does not contain it consistently", unsafe[0]["t"], source.name, unsafe[0]["engine"]),
			Advice: "ALTER TABLE … ENGINE = InnoDB",
		}
	}
	return nil
}

func (r *restore) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	source, node, copies, err := r.servers(ctx, on)
	if err != nil {
		return nil, err
	}
	out := action.Facts{}
	of, err := copies.CopyOf(ctx)
	if err != nil {
		return nil, err
	}
	if of != source.Name {
		if err := wake(ctx, source); err != nil {
			return nil, err
		}
		if on.Answers(ctx, node.Name) == nil { // what does not is set aside unseen, and can be brought back
			if err := r.mayReplace(ctx, on); err != nil {
				return nil, err
			}
		}
		c.Progress(0, "stopping "+node.Name)
		if err := node.Server.Stop(ctx); err != nil {
			return nil, err
		}
		c.Progress(0.2, "copying "+source.Name)
		held, err := copies.CopyFrom(ctx, source.Name)
		if err != nil {
			return nil, err
		}
		out["held_seconds"] = held.Seconds()
	}
	c.Progress(0.6, "recovering")
	if err := node.Server.Start(ctx); err != nil {
		return nil, err
	}
	s, err := dial(ctx, on, node.Name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	found, err := recoveryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	for key, value := range found.facts() {
		out[key] = value
	}
	at, err := cameWithCopy(ctx, s)
	if at != (admin.Place{}) {
		at = later(at, found.place)
		out["place"] = at.String() // in the source's binary log: where there are no GTIDs, it is attached from here
	}
	return out, err
}

// wake lets a source go on that an interrupted copy may have left held.
func wake(ctx context.Context, source cluster.Node) error {
	b, ok := cluster.As[cluster.FaultProneServer](source.Server)
	if !ok {
		return nil
	}
	running, err := source.Server.Running(ctx)
	if err != nil || !running {
		return err
	}
	return b.Thaw(ctx)
}

// unused refuses to take the copy from a node that others follow by now, or that takes the writes which the source does not take any more.
func (r *restore) unused(ctx context.Context, on *cluster.Cluster) error {
	if err := on.MayGo(ctx, r.Node); err != nil {
		return err
	}
	if !on.Leads(ctx, r.Node) {
		return nil
	}
	refuses, known := on.RefusesWrites(ctx, r.Source)
	if known && !refuses {
		return nil
	}
	if !known {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s accepts writes, and %s does not answer: whether the copy took its place, and was written to, cannot be told, so it is not deleted", r.Node, r.Source),
			Advice: fmt.Sprintf("start %s and try again; or make %s read-only and try again, if its data is not needed", r.Source, r.Node),
		}
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s accepts writes, and %s does not: what was written since the snapshot is only there, and is not deleted", r.Node, r.Source),
		Advice: fmt.Sprintf("keep it; if its data is not needed, make %s accept writes again and try again", r.Source),
	}
}

// Undo gives the node back what it had, as long as nobody uses what it has.
func (r *restore) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	source, node, copies, err := r.servers(ctx, on)
	if err != nil {
		return err
	}
	if err := wake(ctx, source); err != nil {
		return err
	}
	if err := r.unused(ctx, on); err != nil {
		return err
	}
	if err := node.Server.Stop(ctx); err != nil {
		return err
	}
	if err := copies.CopyBack(ctx); err != nil {
		return err
	}
	return node.Server.Start(ctx)
}
