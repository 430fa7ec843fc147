package replication

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
)

var copyAction = action.Action{
	Name: "mysql.copy", Version: 1,
	About: "Copies the data folder of a stopped server to another stopped, empty one on the same machine, with reflinks where the file system supports them.",
	New:   func() action.Task { return &copyData{} },
}

type copyData struct {
	Node string `yaml:"node,required" doc:"The server to fill; it must be stopped."`
	From string `yaml:"from,required" doc:"The server whose data is copied; it must be stopped."`
}

var _ action.Undoer = (*copyData)(nil)

func (c *copyData) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// mark is a file in the copy that says of what it is one. Servers leave files that they do not know alone.
func mark(n cluster.Node) string { return path.Join(n.Data, "plimsoll.copy") }

func (c *copyData) nodes(ctx context.Context, on *cluster.Cluster) (to, from cluster.Node, err error) {
	if to, err = on.Node(ctx, c.Node); err != nil {
		return to, from, err
	}
	if from, err = on.Node(ctx, c.From); err != nil {
		return to, from, err
	}
	byHand := fmt.Sprintf("fill %s by other means, such as mariadb-backup from %s; then plimsoll runbook plan mysql/rejoin --cluster %s -i node=%[1]s makes it a replica", to.Name, from.Name, hint.Quoted(on.Name))
	for _, n := range []cluster.Node{to, from} {
		if n.Machine == nil || n.Data == "" || n.Server == nil {
			return to, from, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not know where the data of %s is, or how to stop it: it copies MariaDB servers of a lab only", n.Name), Advice: byHand}
		}
	}
	if to.Name == from.Name || to.Machine.Name() != from.Machine.Name() {
		return to, from, &hint.PermanentError{Reason: fmt.Sprintf("%s and %s are not two servers of one machine", to.Name, from.Name), Advice: byHand}
	}
	return to, from, nil
}

func (c *copyData) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	to, _, err := c.nodes(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	of, err := copyOf(ctx, to)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"data_of": of}, Intended: action.Facts{"data_of": c.From}}
	if of == c.From {
		f.State = action.Satisfied
	}
	return f, nil
}

// copyOf is whose data a server has, as the mark says.
func copyOf(ctx context.Context, n cluster.Node) (string, error) {
	text, err := n.Machine.ReadFile(ctx, mark(n))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("node %s: %w", n.Name, err)
	}
	return string(text), nil
}

func (c *copyData) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	to, from, err := c.nodes(ctx, on)
	if err != nil {
		return nil, err
	}
	for _, n := range []cluster.Node{to, from} {
		if runs, err := n.Server.Running(ctx); err != nil || runs {
			if err == nil {
				err = &hint.PermanentError{Reason: n.Name + " is running: a copy of a data folder in use would be inconsistent", Advice: "the runbook needs a step with server.stop before this one"}
			}
			return nil, err
		}
	}
	if of, err := copyOf(ctx, to); err != nil || of == c.From {
		return nil, err
	}
	if own, is := cluster.As[cluster.Assignable](to.Server); is { // it has the accounts of the cluster when it starts
		if err := assignMode(ctx, own, mode{keptNow: "ON"}); err != nil {
			return nil, err
		}
	}
	call.Progress(-1, "copying "+from.Data)
	return nil, fill(ctx, to, from)
}

// fill copies the folder, takes the server's identity out of the copy and marks it, the mark last: a copy without it is none.
func fill(ctx context.Context, to, from cluster.Node) error {
	var m infra.Files = to.Machine
	if err := m.CopyTree(ctx, from.Data, to.Data); err != nil {
		return fmt.Errorf("copy the data of %s: %w", from.Name, err)
	}
	if err := m.Remove(ctx, path.Join(to.Data, "auto.cnf")); err != nil { // MySQL's server_uuid; it draws another
		return fmt.Errorf("node %s: %w", to.Name, err)
	}
	if err := m.WriteFile(ctx, mark(to), []byte(from.Name), 0o600); err != nil {
		return fmt.Errorf("node %s: mark the copy: %w", to.Name, err)
	}
	return nil
}

// Undo makes a server that was made here empty again; it does not run, as before.
func (c *copyData) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	to, _, err := c.nodes(ctx, on)
	if err != nil {
		return err
	}
	if s, err := serverOf(ctx, on, c.Node); err == nil {
		if err := refuseIfUsed(ctx, s); err != nil {
			return err
		}
	} else if err := on.MayGo(ctx, c.Node); err != nil { // it does not answer, and others may say that they follow it
		return err
	}
	if on.Grower == nil {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s has the cluster's data, and Plimsoll did not create this server, so it does not empty it", c.Node),
			Advice: "empty it by hand, or leave it: it replicates from no server"}
	}
	return on.Grower.Reset(ctx, to.Name)
}
