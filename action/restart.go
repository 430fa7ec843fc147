package action

import (
	"cmp"
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

var restartAction = Action{
	Name: "server.restart", Version: 1, About: "Restarts a node's server and waits until it serves. A read-only server is read-only again, a writable one writable, whatever its option file says. Its output repair is yes if the node of a ring was away for longer than hints are kept. Refused for a read-only server that would start writable; where only its option file knows, a person is asked.",
	New: func() Task { return &restart{} },
}

type restart struct {
	onServer
}

var (
	_ Verifier         = (*restart)(nil)
	_ Passer           = (*restart)(nil)
	_ ApprovalDemander = (*restart)(nil)
)

// Traits says repeatable: an act that was interrupted sees by the server's process what is left to do.
func (r *restart) Traits() Traits { return Traits{Effect: Irreversible, Repeatable: true} }

// Check always finds it needed: there is no state that says that a server was restarted. It refuses a read-only server that would start writable.
func (r *restart) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	server, err := r.server(ctx, on)
	if err != nil {
		return CheckResult{}, err
	}
	process, err := processOf(ctx, server)
	if err != nil {
		return CheckResult{}, err
	}
	f := CheckResult{State: Needed, Observed: Facts{"process": process}, Intended: Facts{"process": Another}}
	r.notePart(ctx, on, f)
	f.Reason, err = r.opensAtStart(ctx, on, f)
	return f, err
}

// ApprovalReason is that clients may write to a read-only server when it starts.
func (r *restart) ApprovalReason(f CheckResult) string {
	if _, unknown := f.Observed[startFact]; unknown {
		return f.Reason
	}
	return ""
}

func processOf(ctx context.Context, s cluster.Server) (string, error) {
	i, ok := cluster.As[cluster.Identified](s)
	if !ok {
		return "", &hint.PermanentError{Reason: "Plimsoll cannot tell one process of this server from the next, so it could not see whether it was restarted",
			Advice: "stop it and start it: steps with server.stop and server.start"}
	}
	return i.Process(ctx)
}

func (r *restart) Act(ctx context.Context, on *cluster.Cluster, c Call) (Facts, error) {
	server, err := r.server(ctx, on)
	if err != nil {
		return nil, err
	}
	repair, err := r.mayReturn(ctx, on)
	if err != nil {
		return nil, NothingDone{Err: err}
	}
	before, _ := c.Before["process"].(string)
	now, err := processOf(ctx, server)
	if err != nil {
		return nil, err
	}
	if now == before { // else an interrupted act had stopped it, or restarted it
		c.Progress(0, "stopping")
		if err := r.closeAtStart(ctx, on); err != nil {
			return nil, err
		}
		if err := server.Stop(ctx); err != nil {
			return nil, err
		}
	}
	c.Progress(0.5, "starting")
	if err := server.Start(ctx); err != nil {
		return nil, err
	}
	if err := r.answer(ctx, on); err != nil {
		return nil, err
	}
	output, err := r.keepPart(ctx, on, c)
	if err != nil {
		return nil, err
	}
	if output[closedAgain] == true || c.Resumed || c.Attempt > 1 { // an attempt before may have closed it
		if err := r.refuseWritten(ctx, on, c.Before); err != nil {
			return nil, err
		}
	}
	now, err = processOf(ctx, server)
	if output == nil {
		output = Facts{}
	}
	output["before"], output["process"] = before, now
	if repair {
		output[repairOutput] = "yes"
	}
	return output, err
}

func (r *restart) Verify(ctx context.Context, on *cluster.Cluster, output Facts) error {
	server, err := r.server(ctx, on)
	if err != nil {
		return err
	}
	now, err := processOf(ctx, server)
	if err != nil {
		return err
	}
	if now == output["before"] || now == "0" || now == "" {
		return fmt.Errorf("node %s still runs as process %s", r.Node, now)
	}
	return r.answersAgain(ctx, on)
}

// Passed finds that the server answers, and replicates if it is a replica.
func (r *restart) Passed(ctx context.Context, on *cluster.Cluster, output Facts) error {
	if why, closed := output[staysClosed].(string); closed {
		return fmt.Errorf("node %s has refused writes since its restart: %s", r.Node, why)
	}
	limited, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := r.Verify(limited, on, output); err != nil || on.Engine == nil {
		return err
	}
	db, err := on.Database(limited, r.Node)
	if err != nil {
		return err
	}
	replicated, is := engine.As[engine.Replicated](db)
	if !is {
		return nil
	}
	status, err := replicated.ReplicationStatus(limited)
	if err != nil {
		return fmt.Errorf("node %s: %w", r.Node, err)
	}
	for _, source := range status.Sources {
		if !source.Receives || !source.Applies {
			return fmt.Errorf("node %s does not replicate from %s: %s", r.Node, source.Address, cmp.Or(source.Trouble, "replication is stopped"))
		}
	}
	return nil
}
