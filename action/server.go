package action

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

// Servers lists the actions that start, stop and restart a server on its host, whatever its engine.
func Servers() []Action {
	return []Action{startAction, stopAction, restartAction, killAction, freezeAction, configureAction, addAction, createAction, destroyAction}
}

// onServer is what the actions on a server take.
type onServer struct {
	Node string `yaml:"node,required" doc:"Which node."`
}

func (s onServer) server(ctx context.Context, on *cluster.Cluster) (cluster.Server, error) {
	n, err := on.Node(ctx, s.Node)
	if err != nil {
		return nil, err
	}
	if n.Server == nil {
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know how to start and stop the server of node %s", n.Name),
			Advice: "name where it runs with machine and service in plimsoll.yaml (docs/inventory.md), or use a step with command and the host's own tool, such as systemctl",
		}
	}
	return n.Server, nil
}

func (s onServer) faultProne(ctx context.Context, on *cluster.Cluster) (cluster.FaultProneServer, error) {
	server, err := s.server(ctx, on)
	if err != nil {
		return nil, err
	}
	if err := s.mayBreak(server, on); err != nil {
		return nil, err
	}
	b, _ := cluster.As[cluster.FaultProneServer](server)
	return b, nil
}

// mayBreak refuses a server that cannot be killed and frozen from here, in a plan too.
func (s onServer) mayBreak(server cluster.Server, on *cluster.Cluster) error {
	if cluster.Can[cluster.FaultProneServer](server) && on.Environment != cluster.Production {
		return nil
	}
	return cluster.OnlyInALab("a kill or a freeze", fmt.Sprintf("node %s of %s", s.Node, on.Name))
}

// running is the finding that a server runs, or does not, as it should.
func (s onServer) running(ctx context.Context, on *cluster.Cluster, want bool) (CheckResult, error) {
	server, err := s.server(ctx, on)
	if err != nil {
		return CheckResult{}, err
	}
	is, err := server.Running(ctx)
	if err != nil {
		return CheckResult{}, err
	}
	f := CheckResult{State: Needed, Observed: Facts{"running": is}, Intended: Facts{"running": want}}
	if is == want {
		f.State = Satisfied
	}
	return f, nil
}

var startAction = Action{
	Name: "server.start", Version: 1, About: "Starts a node's server and waits until it serves.",
	New: func() Task { return &Start{} },
}

// Start is the task of server.start, for actions that do more before it.
type Start struct {
	onServer
}

// NewStart starts a node's server.
func NewStart(node string) *Start { return &Start{onServer{node}} }

var (
	_ Undoer   = (*Start)(nil)
	_ Verifier = (*Start)(nil)
)

func (s *Start) Traits() Traits {
	return Traits{Effect: Reversible, Repeatable: true, UndoTakes: "stops the server of node " + s.Node}
}

// otherPrimaryFact is the fact of who took the writes of the cluster while the server was stopped.
const otherPrimaryFact = "primary_meanwhile"

func (s *Start) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	f, err := s.running(ctx, on, true)
	if err == nil && f.State == Needed {
		if p, unknown := on.Primary(ctx); unknown == nil && p.Name != s.Node && on.Leads(ctx, p.Name) {
			f.Observed[otherPrimaryFact] = p.Name
		}
	}
	if err != nil || f.State != Satisfied || on.Engine == nil {
		return f, err
	}
	if err := on.Answers(ctx, s.Node); err != nil { // started and not yet there: the act waits for it
		f.State, f.Reason = Needed, "it is running but does not answer"
	}
	return f, nil
}

func (s *Start) Act(ctx context.Context, on *cluster.Cluster, _ Call) (Facts, error) {
	server, err := s.server(ctx, on)
	if err != nil {
		return nil, err
	}
	if err := server.Start(ctx); err != nil {
		return nil, err
	}
	if err := s.answer(ctx, on); err != nil {
		return nil, err
	}
	if err := s.noSecond(ctx, on); err != nil {
		return nil, err
	}
	return s.openReplica(ctx, on), nil
}

// Undo stops the server, unless it has taken the place of who was the primary before it was started.
func (s *Start) Undo(ctx context.Context, on *cluster.Cluster, c Call) error {
	server, err := s.server(ctx, on)
	if err != nil {
		return err
	}
	if was, _ := c.Before[otherPrimaryFact].(string); was != "" && on.Leads(ctx, s.Node) && !on.Leads(ctx, was) {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s has become the primary since it was started, in the place of %s: no node would accept writes", s.Node, was),
			Advice: "leave it running: plimsoll runbook cancel RUN --leave REASON; mysql/switchover -i to=NODE makes another node the primary"}
	}
	return server.Stop(ctx)
}

// Verify finds that it runs and answers.
func (s *Start) Verify(ctx context.Context, on *cluster.Cluster, _ Facts) error {
	f, err := s.running(ctx, on, true)
	if err == nil && f.State != Satisfied {
		err = fmt.Errorf("node %s is not running", s.Node)
	}
	if err != nil || on.Engine == nil {
		return err
	}
	return s.answersAgain(ctx, on)
}

// again is how long a server that has just answered may take to answer another question.
const again = time.Minute

// answersAgain waits a little for a server that has answered already: whoever looks now may have found it silent a moment ago, and
// not ask it anew at once.
func (s onServer) answersAgain(ctx context.Context, on *cluster.Cluster) error {
	ctx, cancel := context.WithTimeoutCause(ctx, again, fmt.Errorf("it answered after its start, but has not answered for %s", again))
	defer cancel()
	return s.answer(ctx, on)
}

// answerWithin is how long one question waits for its answer. It may have gone over a connection from before a stop, of whose end
// nobody was told: the next one goes over another.
const answerWithin = 10 * time.Second

// answer waits until the server answers.
func (s onServer) answer(ctx context.Context, on *cluster.Cluster) error {
	return poll.Try(ctx, 200*time.Millisecond, func() error {
		once, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		return on.Answers(once, s.Node)
	})
}

var stopAction = Action{
	Name: "server.stop", Version: 1, About: "Stops a node's server cleanly.",
	New: func() Task { return &stop{} },
}

type stop struct {
	onServer

	ForGood bool `yaml:"for_good" doc:"It will not be started again, because its data is no longer usable. The stop is then irreversible."`
}

var (
	_ Undoer    = (*stop)(nil)
	_ Cautioned = (*stop)(nil)
)

func (s *stop) Traits() Traits {
	if s.ForGood {
		return Traits{Effect: Irreversible, Repeatable: true}
	}
	return Traits{Effect: Reversible, Repeatable: true}
}

func (s *stop) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	f, err := s.ending(ctx, on)
	if err != nil || f.State != Needed {
		return f, err
	}
	once, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if on.Answers(once, s.Node) != nil {
		f.Observed[silentFact] = true
	} else {
		s.notePart(ctx, on, f)
	}
	return f, ctx.Err()
}

// Cautions say of a server that refuses writes that its next start may let clients write to it.
func (s *stop) Cautions(ctx context.Context, on *cluster.Cluster) []Caution {
	f := CheckResult{Observed: Facts{}}
	s.notePart(ctx, on, f)
	asks, err := s.opensAtStart(ctx, on, f)
	if refusal := (*hint.PermanentError)(nil); errors.As(err, &refusal) {
		asks = refusal.Reason + ": " + refusal.Advice
	}
	if asks == "" {
		return nil
	}
	return []Caution{{Text: asks}}
}

// silentFact is the fact that a server ran and did not answer when it was looked at, as a drained node does.
const silentFact = "silent"

// primaryFact is the fact that a server took the writes of its cluster when it was looked at.
const primaryFact = "primary"

// ending is the finding before a server is ended: an undo must know whether it was the primary.
func (s onServer) ending(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	f, err := s.running(ctx, on, false)
	if err == nil && f.State == Needed && on.Leads(ctx, s.Node) && !cluster.SpareOfNobody(ctx, on, s.Node) {
		f.Observed[primaryFact] = true
	}
	return f, err
}

func (s *stop) Act(ctx context.Context, on *cluster.Cluster, _ Call) (Facts, error) {
	server, err := s.server(ctx, on)
	if err != nil {
		return nil, err
	}
	if err := s.closeAtStart(ctx, on); err != nil {
		return nil, err
	}
	return nil, server.Stop(ctx)
}

// Undo starts the server and waits until it answers. One that has not been stopped, and did not answer before, is as it was. One that refused writes is
// closed again. One whose data must not come back is not started.
func (s *stop) Undo(ctx context.Context, on *cluster.Cluster, c Call) error {
	server, err := s.server(ctx, on)
	if err != nil {
		return err
	}
	if silent, _ := c.Before[silentFact].(bool); silent {
		if runs, err := server.Running(ctx); err != nil || runs {
			return err
		}
	}
	if was, _ := c.Before[primaryFact].(bool); was {
		if err := cluster.Replaced(ctx, on, s.Node, c.Resumed); err != nil {
			return err
		}
	}
	if _, err := s.mayReturn(ctx, on); err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	if err := s.answer(ctx, on); err != nil {
		return err
	}
	if refused, _ := c.Before[refusesFact].(bool); refused {
		is, err := s.keepPart(ctx, on, c)
		if err != nil {
			return err
		}
		if is[closedAgain] == true || c.Resumed {
			if err := s.refuseWritten(ctx, on, c.Before); err != nil {
				return err
			}
		}
	}
	return s.noSecond(ctx, on)
}
