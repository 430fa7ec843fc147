// Package change holds the actions of the lab that a timeline can run: what an operator, or fate, does to a server.
package change

import (
	"context"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/document"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// All lists the changes that ship.
func All() []spec.Change {
	return []spec.Change{
		onNode{name: "lab/restart", event: series.NodeRestart, do: restart},
		killed{onNode{name: "lab/kill", event: series.NodeKill, do: kill}},
		powerFail{onNode{name: "lab/power-fail", event: series.NodePowerFail}},
		killed{onNode{name: "lab/lose", event: series.NodeKill, do: lose}},
		onNode{name: "lab/stop", event: series.NodeStop, do: stop},
		onNode{name: "lab/start", event: series.NodeStart, do: start},
		onNode{name: "lab/freeze", event: series.NodeFreeze, do: freeze},
		reconfigure{},
		diskChange{},
		restore{},
		attachReplica{},
	}
}

// inputs are what the actions on a node take.
type inputs struct {
	Node string        `yaml:"node" doc:"The node; n1 is the primary. Default n1."`
	For  time.Duration `yaml:"for,nonzero" doc:"How long it lasts before the server is started, or thawed, again. Default: after a kill or power failure the server restarts at once, a freeze lasts 5s, a stop and lab/lose last until lab/start."`
}

// onNode is an action on one node.
type onNode struct {
	name  string
	event series.EventKind
	do    func(ctx context.Context, on *lab.Cluster, in inputs, tell func(kind series.EventKind)) error
}

var _ spec.Change = onNode{}

func (a onNode) Name() string { return a.name }

// Check refuses unknown inputs and nodes that the cluster does not have.
func (a onNode) Check(c spec.Call, nodes int) error {
	in, err := a.read(c)
	if err != nil {
		return err
	}
	return checkNode(c, in.Node, nodes)
}

func checkNode(c spec.Call, node string, nodes int) error {
	n, err := strconv.Atoi(strings.TrimPrefix(node, "n"))
	if err != nil || n < 1 || n > nodes || !strings.HasPrefix(node, "n") {
		at := c.At
		if given := c.With.Get("node"); given != nil {
			at = given
		}
		return at.Errorf("%s: no node %q, the cluster has n1 to n%d", c.Change, node, nodes)
	}
	return nil
}

func (a onNode) Run(ctx context.Context, on *lab.Cluster, c spec.Call, tell func(series.Event)) error {
	in, err := a.read(c)
	if err != nil {
		return err
	}
	say := func(kind series.EventKind) { tell(series.Event{Kind: kind, Name: a.name, Node: in.Node}) }
	say(a.event)
	return a.do(ctx, on, in, say)
}

func (a onNode) read(c spec.Call) (inputs, error) {
	in := inputs{Node: "n1"}
	if c.With == nil || c.With.Kind == document.Nothing {
		return in, nil
	}
	return in, c.With.Decode(&in)
}

func restart(ctx context.Context, on *lab.Cluster, in inputs, tell func(series.EventKind)) error {
	if in.For == 0 {
		return tellAfter(on.Server(in.Node).Restart(ctx), tell, series.NodeServes)
	}
	if err := on.Stop(ctx, in.Node); err != nil {
		return err
	}
	return startAfter(ctx, on, in, tell)
}

func kill(ctx context.Context, on *lab.Cluster, in inputs, tell func(series.EventKind)) error {
	if err := on.Server(in.Node).Kill(ctx); err != nil {
		return err
	}
	return startAfter(ctx, on, in, tell)
}

// lose kills a node, which stays dead: what a failover is for.
func lose(ctx context.Context, on *lab.Cluster, in inputs, _ func(series.EventKind)) error {
	return on.Server(in.Node).Kill(ctx)
}

func stop(ctx context.Context, on *lab.Cluster, in inputs, tell func(series.EventKind)) error {
	if err := on.Stop(ctx, in.Node); err != nil || in.For == 0 {
		return err
	}
	return startAfter(ctx, on, in, tell)
}

func start(ctx context.Context, on *lab.Cluster, in inputs, tell func(series.EventKind)) error {
	return tellAfter(on.Start(ctx, in.Node), tell, series.NodeServes)
}

// startAfter starts a node again when its time is over.
func startAfter(ctx context.Context, on *lab.Cluster, in inputs, tell func(series.EventKind)) error {
	if err := poll.Rest(ctx, in.For); err != nil {
		return err
	}
	return start(ctx, on, in, tell)
}

// defaultFreeze is how long a freeze lasts that names no time: longer than most clients' patience for one statement.
const defaultFreeze = 5 * time.Second

func freeze(ctx context.Context, on *lab.Cluster, in inputs, tell func(series.EventKind)) error {
	if in.For == 0 {
		in.For = defaultFreeze
	}
	if err := on.Server(in.Node).Freeze(ctx); err != nil {
		return err
	}
	waited := poll.Rest(ctx, in.For)
	thaw, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // a node is never left frozen
	defer cancel()
	if err := tellAfter(on.Server(in.Node).Thaw(thaw), tell, series.NodeThaw); err != nil {
		return err
	}
	return waited
}

func tellAfter(err error, tell func(series.EventKind), kind series.EventKind) error {
	if err == nil {
		tell(kind)
	}
	return err
}
