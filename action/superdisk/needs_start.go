package superdisk

import (
	"context"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

var needsStartAction = action.Action{
	Name: "superdisk.needs-start", Version: 1,
	About: "Makes sure that there is something to start, before a server is stopped for it: refused where the array runs and is mounted, and the node's server answers. It changes nothing.",
	New:   func() action.Task { return &needsStart{array: array{Array: usual}} },
}

// needsStart keeps a runbook that starts an array from stopping a server that serves from it.
type needsStart struct {
	array

	Mount string `yaml:"mount,required" doc:"Where the array is to be mounted."`
	UUID  string `yaml:"uuid" doc:"The array's UUID, if it is known: a later step refuses another array of that name. Default: any."`
}

func (s *needsStart) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

// answersWithin is how long a server that runs may take to answer one question. One that does not is stopped and started.
const answersWithin = 10 * time.Second

func (s *needsStart) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, _, a, found, err := s.look(ctx, on)
	r := action.CheckResult{State: action.Satisfied, Observed: facts(a, found)}
	if err != nil || !found || !a.Running() || a.Mount != s.Mount || s.UUID != "" && a.UUID != s.UUID {
		return r, err
	}
	n, err := on.Node(ctx, s.Node)
	if err != nil || n.Server == nil { // of whom Plimsoll does not know how to stop it, the next step tells
		return r, err
	}
	if runs, err := n.Server.Running(ctx); err != nil || !runs {
		return r, err
	}
	once, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	if unanswered := on.Answers(once, s.Node); unanswered != nil {
		r.Reason = fmt.Sprintf("the array runs, and the server of %s does not answer: %v", s.Node, unanswered)
		return r, ctx.Err()
	}
	advice := "nothing is to be started: plimsoll superdisk status shows its legs"
	if a.Degraded > 0 {
		advice = fmt.Sprintf("one leg is missing, which superdisk/rebuild -i node=%[1]s (the local leg) or superdisk/reattach-network -i node=%[1]s brings into step while it serves", s.Node)
	}
	return r, &hint.PermanentError{Reason: fmt.Sprintf("node %s serves from array %s already, which is mounted at %s of %s", s.Node, a.Label(), a.Mount, m.Name()), Advice: advice}
}

// Act looks again.
func (s *needsStart) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	_, err := s.Check(ctx, on)
	return nil, err
}
