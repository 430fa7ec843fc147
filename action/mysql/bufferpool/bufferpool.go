// Package bufferpool holds the actions on what MySQL and MariaDB have in memory: write down which pages that are, read
// them back, warm tables and indexes by reading them, and wait until a server is warm.
package bufferpool

import (
	"context"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// Actions lists them.
func Actions() []action.Action {
	return []action.Action{dumpAction, loadAction, resizeAction, warmAction, waitAction}
}

// onServer is what every action here takes.
type onServer struct {
	Node string `yaml:"node" doc:"The node. Default: the primary."`
}

// use opens a session of its own for f.
func (s onServer) use(ctx context.Context, on *cluster.Cluster, f func(engine.Session) error) error {
	return on.Use(ctx, s.Node, f)
}

// query executes one question; its rows are kept.
func query(ctx context.Context, s engine.Session, text string, args ...engine.Value) (engine.Result, error) {
	r := engine.Result{Keep: true}
	if len(args) == 0 {
		return r, s.Exec(ctx, text, &r)
	}
	statement, err := s.Prepare(ctx, text)
	if err != nil {
		return r, err
	}
	return r, statement.Exec(ctx, args, &r)
}

func chars(s string) engine.Value { return engine.Chars([]byte(s)) }
