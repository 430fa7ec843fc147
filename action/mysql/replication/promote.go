package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var promoteAction = action.Action{
	Name: "mysql.promote", Version: 1,
	About: "Promotes a replica that has applied everything it received: it stops replicating and accepts writes.",
	New:   func() action.Task { return &promote{} },
}

type promote struct {
	Node     string `yaml:"node,required" doc:"The replica."`
	Old      string `yaml:"old" doc:"The old primary. If it answers, it must refuse writes and have no transaction that the replica lacks."`
	Received string `yaml:"received" doc:"What the replica had received when mysql.pick-replica chose it: the output received of that step. A replica that has less now is refused, because a restart can discard what was received and not applied. Default: not compared."`
}

func (p *promote) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (p *promote) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "promote a replica", "kube/switchover"); err != nil {
		return action.CheckResult{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*patience, fmt.Errorf("%s does not answer within %s", p.Node, 2*patience))
	defer cancel()
	s, err := serverOf(ctx, on, p.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := s.status(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	if err := s.singleSource(is); err != nil {
		return action.CheckResult{}, err
	}
	if err := canLead(ctx, s); err != nil {
		return action.CheckResult{}, err
	}
	m, err := modeOf(ctx, s)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"follows": is.Follows(), "read_only": m[modeNow]},
		Intended: action.Facts{"follows": "", "read_only": "0"},
	}
	switch {
	case is.Primary() && m[keptNow] != "ON" && m[keptSuper] != "ON":
		f.State = action.Satisfied
		return f, refuseSecond(ctx, s)
	case is.Primary(): // but not after its next start: it was cut off in between
		return f, refuseSecond(ctx, s)
	default:
		f.Reason = optionFile(s, m, "whether it accepts writes after a restart", openAtStart(s))
	}
	return f, p.observeOthers(ctx, s, is, &f)
}

// Cautions name the option file that decides what the server is after a restart.
func (p *promote) Cautions(ctx context.Context, on *cluster.Cluster) []action.Caution {
	s, err := serverOf(ctx, on, p.Node)
	if err != nil {
		return nil
	}
	return atStart(ctx, s, "whether it accepts writes after a restart", openAtStart(s))
}

// openAtStart is what a person does about the option file of a server that is to accept writes.
func openAtStart(s *server) string {
	if s.mariadb {
		return "remove read_only from it"
	}
	return "remove read_only and super_read_only from it"
}

// observeOthers notes, where nobody looked after the others before, those that do not answer, whose transactions would be given up, and with which
// nothing can be compared. With an old primary, the steps before have. It refuses a server beside one that accepts writes, and one that only lacks
// what another has.
func (p *promote) observeOthers(ctx context.Context, s *server, is engine.ReplicationStatus, f *action.CheckResult) error {
	if p.Old != "" {
		return nil
	}
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	if err := p.refuseBeside(others); err != nil {
		return err
	}
	for _, o := range others {
		if !o.answers() {
			f.Observed["silent_"+o.name] = o.silence()
			continue
		}
		missing, err := lacks(ctx, s, is, o)
		switch {
		case err != nil:
			return err
		case missing.unknown:
			f.Observed["uncompared_"+o.name] = "has no GTIDs"
		case missing.apart:
			f.Observed["apart_"+o.name] = missing.of.Count()
		case missing.of.Count() > 0:
			advice := "promote a server that lacks none: mysql/promote -i node=" + o.name
			if !is.ReadOnly { // two servers with transactions of their own: whose clients must be told to write elsewhere only a person knows
				advice = fmt.Sprintf("find these transactions in the binary log of %s and execute those that you need on %s. Then seed %[1]s again: %[3]s", o.name, s.name(), seedAgain(missing.other))
			}
			return missing.beside.explainLack(missing.of, &hint.PermanentError{Reason: fmt.Sprintf("%s lacks %d transactions that %s has", s.name(), missing.of.Count(), o.name), Advice: advice})
		}
	}
	return nil
}

// lack is what another server has of the cluster, applied or not, that one lacks.
type lack struct {
	of      admin.GTIDSet
	apart   bool    // the other lacks some too
	unknown bool    // there are no GTIDs to compare
	beside  outside // what the other has beside
	other   *server
}

// lacks compares a server with another, which is asked first: the former may be what it replicates from, and go on writing.
func lacks(ctx context.Context, s *server, is engine.ReplicationStatus, o peer) (lack, error) {
	other, err := serverOf(ctx, s.on, o.name)
	if err != nil {
		return lack{}, err
	}
	beside, err := heldBy(ctx, other, o.is)
	if err != nil {
		return lack{}, err
	}
	taken, err := s.received(ctx, is)
	if err != nil {
		return lack{}, err
	}
	had := beside.held
	missing, more := had.Without(taken), taken.Without(had)
	if s.mariadb { // a position does not tell who wrote what: their binary logs do
		if missing, err = (link{other, s}).errant(ctx); err != nil {
			return lack{}, err
		}
		if more, err = (link{s, other}).errant(ctx); err != nil {
			return lack{}, err
		}
		own, err := s.executed(ctx)
		if err != nil {
			return lack{}, err
		}
		switch pending := taken.Without(own).Count() > 0; {
		case missing.Count() == 0, more.Count() == 0 && pending: // one is ahead: what it has received counts too
			missing, more = had.Without(taken), nil
		case more.Count() == 0 && had.Without(taken).Count() == 0: // of its own, or of before this one was seeded: a person knows
			return lack{of: missing, apart: true, beside: beside}, nil
		}
	}
	if len(taken) == 0 && missing.Count() == 0 {
		return lack{unknown: true}, nil
	}
	return lack{of: missing, apart: missing.Count() > 0 && more.Count() > 0, beside: beside, other: other}, nil
}

var (
	_ action.ApprovalDemander = (*promote)(nil)
	_ action.Cautioned        = (*promote)(nil)
)

// ApprovalReason is that a node which does not answer may take writes, or may have what the new primary lacks, or that one which answers has it.
func (p *promote) ApprovalReason(f action.CheckResult) string {
	var reasons []string
	if silent := nodesOf(f, "silent_"); len(silent) > 0 {
		reasons = append(reasons, fmt.Sprintf("%s does not answer: it may accept writes, or begin to when it answers again, and may have transactions that %s lacks. Make sure that it cannot", strings.Join(silent, ", "), p.Node))
	}
	for _, node := range nodesOf(f, "apart_") {
		reasons = append(reasons, fmt.Sprintf("%s has %v transactions that %s lacks, and lacks some that it has: those of %[1]s would be given up", node, f.Observed["apart_"+node], p.Node))
	}
	if nodes := nodesOf(f, "uncompared_"); len(nodes) > 0 {
		reasons = append(reasons, fmt.Sprintf("%s and %s have no GTIDs: Plimsoll cannot tell which of them has more transactions", strings.Join(nodes, ", "), p.Node))
	}
	return strings.Join(reasons, "; ")
}

// nodesOf are the nodes of which something was observed, sorted.
func nodesOf(f action.CheckResult, prefix string) []string {
	var nodes []string
	for name := range f.Observed {
		if node, is := strings.CutPrefix(name, prefix); is {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// stillMost refuses what nobody was asked about: an approval may have taken hours, and another may have received more meanwhile.
func (p *promote) stillMost(ctx context.Context, s *server, is engine.ReplicationStatus, asked action.Facts) error {
	now := action.CheckResult{Observed: action.Facts{}}
	if err := p.observeOthers(ctx, s, is, &now); err != nil {
		return err
	}
	for name := range now.Observed {
		if _, known := asked[name]; !known {
			return &hint.PermanentError{Reason: p.ApprovalReason(now), Advice: "plimsoll runbook resume RUN asks a person whether it may continue; or plimsoll runbook cancel RUN"}
		}
	}
	return nil
}

// canLead refuses servers that others cannot follow.
func canLead(ctx context.Context, s *server) error {
	log, err := s.value(ctx, admin.Global("log_bin"))
	if err != nil {
		return err
	}
	if log != "1" && log != "ON" {
		return &hint.PermanentError{Reason: s.name() + " writes no binary log: no replica could replicate from it", Advice: "set log_bin: on and restart it"}
	}
	variable := "log_replica_updates"
	if s.mariadb {
		variable = "log_slave_updates"
	}
	updates, err := s.value(ctx, admin.Global(variable))
	if err != nil {
		return err
	}
	if updates != "1" && updates != "ON" {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s does not write replicated transactions to its own binary log: the other replicas could not continue from it", s.name()),
			Advice: variable + ": on, and restart it",
		}
	}
	return nil
}

// Act makes sure that there are never two primaries, and that nothing is left behind, before it opens the server.
func (p *promote) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	s, err := p.mayPromote(ctx, on, c)
	if err != nil {
		return nil, action.NothingDone{Err: err}
	}
	c.Progress(0.5, "making it writable")
	if err := p.leaveSource(ctx, s); err != nil {
		return nil, action.NothingDone{Err: err}
	}
	if err := p.stillAlone(ctx, s); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		if closed := (*admin.StaysReadOnlyError)(nil); errors.As(err, &closed) { // the old primary may take writes again
			return nil, action.NothingDone{Err: fmt.Errorf("%w; it no longer replicates from any server", err)}
		}
		return nil, err
	}
	has, err := s.executed(ctx)
	out := action.Facts{"position": has.String()}
	if next := admin.EventsToEnable(ctx, asked(s)); next != "" {
		out[action.Next] = next
	}
	return out, err
}

// leaveSource ends the server's replication; it stays read-only. A server that hangs meanwhile takes no writes afterwards either, so that the
// run can go back: the old primary need not wait for it until the step's deadline.
func (p *promote) leaveSource(ctx context.Context, s *server) error {
	limited, cancel := context.WithTimeoutCause(ctx, 2*patience, fmt.Errorf("%s does not answer within %s", p.Node, 2*patience))
	defer cancel()
	err := s.unfollow(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("%w: it stays read-only, and may have stopped replicating", context.Cause(limited))
	}
	return err
}

// mayPromote refuses to open a server while it hangs, another takes writes, or something would be left behind.
func (p *promote) mayPromote(ctx context.Context, on *cluster.Cluster, c action.Call) (*server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 4*patience, fmt.Errorf("%s does not answer within %s", p.Node, 4*patience))
	defer cancel()
	s, err := serverOf(ctx, on, p.Node)
	if err != nil {
		return nil, err
	}
	is, err := s.status(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.singleSource(is); err != nil {
		return nil, err
	}
	c.Progress(0, "checking whether another node accepts writes")
	if err := p.refuseUnlessAlone(ctx, s); err != nil {
		return nil, err
	}
	if err := p.complete(ctx, on, s); err != nil {
		return nil, err
	}
	if err := p.stillMost(ctx, s, is, c.Before); err != nil {
		return nil, err
	}
	if err := p.stillHas(ctx, s, is); err != nil {
		return nil, err
	}
	if len(is.Sources) > 0 {
		taken, err := s.received(ctx, is)
		if err != nil {
			return nil, err
		}
		has, err := s.executed(ctx)
		if err != nil {
			return nil, err
		}
		if left := taken.Without(has).Count(); left > 0 {
			return nil, &hint.PermanentError{Reason: fmt.Sprintf("%s has %d transactions in its relay log that it has not applied", s.name(), left),
				Advice: "the runbook needs a step with mysql.apply-relay-log before this one"}
		}
	}
	return s, nil
}

// refuseUnlessAlone refuses while another node takes writes. One that does not answer says nothing: that it does not is for others to
// make sure.
func (p *promote) refuseUnlessAlone(ctx context.Context, s *server) error {
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	return p.refuseBeside(others)
}

// refuseBeside refuses a promotion beside another primary. One by itself knows of no old primary: any server that lets clients write may be it,
// whatever it is set up to replicate from.
func (p *promote) refuseBeside(others []peer) error {
	accepts := peer.leads
	if p.Old == "" {
		accepts = peer.writable
	}
	i := slices.IndexFunc(others, accepts)
	if i < 0 {
		return nil
	}
	o, forget := others[i], ""
	if len(o.is.Sources) > 0 {
		forget = fmt.Sprintf("mysql/promote -i node=%s makes it replicate from no server; then ", o.name)
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s accepts writes%s: there would be two primaries", o.name, o.despite()),
		Advice: fmt.Sprintf("if %[1]s is the primary now, do not continue (plimsoll runbook cancel RUN --leave REASON ends this run): %[2]smysql/rejoin -i node=NODE makes each of the others replicate from it. "+
			"If not, make %[1]s read-only, "+closing+"; plimsoll runbook resume RUN then continues", o.name, forget)}
}

// closing is what a person executes to make a server read-only.
const closing = "SET GLOBAL read_only = 1, and read_only = 1 in its option file (on MySQL SET PERSIST super_read_only = 1)"

// taking is the first node that accepts writes of its own; "" if none that answers does.
func taking(nodes []peer) string {
	for _, n := range nodes {
		if n.leads() {
			return n.name
		}
	}
	return ""
}

// stillAlone asks the others again, just before the server is opened: this process may have been suspended since, and another run may have
// promoted one of them. It does not wait for nodes that hang a second time.
func (p *promote) stillAlone(ctx context.Context, s *server) error {
	others, err := askFor(ctx, s.on, s.name(), func(node string) time.Duration {
		if s.on.Hangs(node) {
			return cluster.HungTime
		}
		return patience
	})
	if err != nil {
		return err
	}
	return p.refuseBeside(others)
}

// refuseSecond refuses a server that accepts writes while another does too.
func refuseSecond(ctx context.Context, s *server) error {
	others, err := s.peers(ctx)
	if o := taking(others); err == nil && o != "" {
		return twoPrimaries(s.name(), o)
	}
	return err
}

// twoPrimaries says what to do about two nodes that accept writes.
func twoPrimaries(one, other string) error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s and %s both accept writes", one, other),
		Advice: fmt.Sprintf("at once make the one that is not to be the primary read-only, "+closing+". Then mysql/rejoin -i node=%[1]s, or mysql/rejoin -i node=%[2]s, makes that one replicate from the other", one, other),
	}
}

// complete refuses a replica that lacks what the old primary has, if that answers.
func (p *promote) complete(ctx context.Context, on *cluster.Cluster, s *server) error {
	if p.Old == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	old, err := serverOf(limited, on, p.Old)
	if err != nil {
		return ctx.Err() // it does not answer
	}
	had, err := old.executed(limited)
	if err != nil {
		return ctx.Err()
	}
	has, err := s.executed(ctx)
	if err != nil {
		return err
	}
	if lacks := had.Without(has); lacks.Count() > 0 {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s lacks %d transactions of %s", s.name(), lacks.Count(), old.name()), Advice: "the runbook needs a step with mysql.wait-caught-up before this one"}
	}
	return nil
}
