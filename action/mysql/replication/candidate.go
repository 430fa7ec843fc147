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
	"plimsoll/internal/poll"
)

// refuseCandidate refuses a replica that should not become the primary, whatever else there is.
func refuseCandidate(ctx context.Context, s *server, is engine.ReplicationStatus) error {
	if len(is.Sources) == 0 {
		return &hint.PermanentError{Reason: s.name() + " does not replicate from any server, so it is not a replica", Advice: "name another node, or make it a replica of the primary first: mysql/rejoin -i node=" + s.name()}
	}
	if err := s.singleSource(is); err != nil {
		return err
	}
	from := is.Sources[0]
	switch {
	case from.Filter != "":
		return &hint.PermanentError{Reason: fmt.Sprintf("%s does not have all data: %s", s.name(), from.Filter), Advice: "name a replica without filters"}
	case from.Delay > 0:
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is delayed by %s on purpose", s.name(), from.Delay), Advice: "name a replica without a delay"}
	case !from.Automatic:
		return &hint.PermanentError{Reason: s.name() + " replicates by file and position, not by GTID", Advice: "mysql.replicate makes it use GTIDs, where both servers have them"}
	case !from.Applies:
		return whyStalled(s, is)
	}
	return canLead(ctx, s)
}

// refuseWritable refuses to make another server the primary beside a replica that lets clients write.
func refuseWritable(p peer, why string) error {
	return &hint.PermanentError{Reason: fmt.Sprintf("%s accepts writes%s: %s, and two servers would accept writes afterwards", p.name, p.despite(), why),
		Advice: fmt.Sprintf("make %s read-only, %s, then plimsoll runbook resume RUN", p.name, closing)}
}

var checkSwitchoverAction = action.Action{
	Name: "mysql.check-switchover", Version: 1,
	About: "Checks that a switchover can complete without losing transactions, refuses with the reason if it cannot, and waits until the replica has almost caught up.",
	New:   func() action.Task { return &checkSwitchover{MaxBehind: 10 * time.Second} },
}

type checkSwitchover struct {
	From      string        `yaml:"from,required" doc:"The primary."`
	To        string        `yaml:"to,required" doc:"The replica that will be the primary."`
	MaxBehind time.Duration `yaml:"max_behind" doc:"How far it may lag when the switchover begins: writes wait for this long. Default 10s."`
}

var _ action.Verifier = (*checkSwitchover)(nil)

func (w *checkSwitchover) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (w *checkSwitchover) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if _, err := w.behind(ctx, on); err != nil {
		return action.CheckResult{}, err
	}
	return action.CheckResult{
		State: action.Needed, Observed: action.Facts{"primary": w.From}, Intended: action.Facts{"primary": w.To},
	}, nil
}

// behind refuses what waiting cannot mend and says how far the replica is behind.
func (w *checkSwitchover) behind(ctx context.Context, on *cluster.Cluster) (time.Duration, error) {
	from, err := serverOf(ctx, on, w.From)
	if engine.ClassOf(err) == engine.Unavailable {
		return 0, hint.With(err, "a switchover needs a primary that answers; one that is dead is replaced by mysql/failover, and what it sent to no replica may be lost")
	}
	if err != nil {
		return 0, err
	}
	to, err := serverOf(ctx, on, w.To)
	if err != nil {
		return 0, err
	}
	all, err := ask(ctx, on)
	if err != nil {
		return 0, err
	}
	var primary, replica engine.ReplicationStatus
	for _, p := range all {
		switch {
		case !p.answers():
			return 0, fmt.Errorf("node %s %s: %w", p.name, p.silence(), p.silent)
		case p.name == w.From:
			primary = p.is
		case p.name == w.To:
			replica = p.is
		}
	}
	if o := taking(slices.DeleteFunc(slices.Clone(all), func(p peer) bool { return p.name == w.From })); o != "" && primary.Primary() {
		return 0, twoPrimaries(w.From, o)
	}
	if !primary.Primary() {
		if err := refuseLeaderless(on.Name, all); err != nil {
			return 0, err
		}
		return 0, &hint.PermanentError{Reason: w.From + " is not the primary", Advice: "find out which node is: plimsoll lab list, or ask the servers"}
	}
	if w.From == w.To {
		return 0, &hint.PermanentError{Reason: w.To + " is the primary already", Advice: "name a replica", Whole: true}
	}
	if err := refuseSameID(all); err != nil {
		return 0, err
	}
	if err := refuseEvents(ctx, from); err != nil {
		return 0, err
	}
	besides := func(err error) error { // beside what is refused, a server may accept writes: that comes first
		for _, p := range all {
			if p.name != w.From && p.writable() {
				return alsoWritable(p, err)
			}
		}
		return err
	}
	if err := refuseCandidate(ctx, to, replica); err != nil {
		return 0, besides(err)
	}
	if !from.isSource(replica.Sources[0], primary.ServerID) {
		return 0, besides(&hint.PermanentError{Reason: fmt.Sprintf("%s follows %s, not %s", w.To, replica.Follows(), w.From), Advice: "name another node, or make it a replica of the primary first: mysql/rejoin -i node=" + w.To})
	}
	if !replica.Sources[0].Receives {
		return 0, besides(&hint.PermanentError{Reason: fmt.Sprintf("%s is not connected to %s: %s", w.To, w.From, replica.Sources[0].Trouble), Advice: "fix that first"})
	}
	for _, p := range all {
		if p.name == w.From || len(p.is.Sources) == 0 {
			continue
		}
		if p.name != w.To && p.is.ReadOnly && followsOne(p.is) { // that of a replica which accepts writes was written by clients, that of one with several sources by whom is to be found out
			continue
		}
		s, err := serverOf(ctx, on, p.name)
		if err != nil {
			return 0, err
		}
		if err := (link{s, from}).refuseErrant(ctx); err != nil { // to be repointed, it would be refused when there is no way back
			return 0, alsoWritable(p, err)
		}
	}
	for _, p := range all {
		if p.name != w.From && p.name != w.To && p.writable() {
			return 0, refuseWritable(p, clientsMove(w.From))
		}
	}
	if _, known := from.account(); !known {
		return 0, &hint.PermanentError{Reason: "Plimsoll does not know as which user " + w.From + " can log in at " + w.To + " to replicate",
			Advice: "name the account in the inventory: replication: {user: …, password: {env: …}}"}
	}
	return replica.Sources[0].Behind, nil
}

// alsoWritable says of a server with transactions of its own that it goes on accepting some.
func alsoWritable(p peer, err error) error {
	refusal := (*hint.PermanentError)(nil)
	if !p.writable() || !errors.As(err, &refusal) {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s accepts writes%s, and %s", p.name, p.despite(), refusal.Reason),
		Advice: fmt.Sprintf("make %s read-only at once, %s; then %s", p.name, closing, refusal.Advice),
	}
}

func (w *checkSwitchover) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	var behind time.Duration
	err := poll.Until(ctx, time.Second, func() (waitsFor string, err error) {
		if behind, err = w.behind(ctx, on); err != nil || behind >= 0 && behind <= w.MaxBehind {
			return "", err
		}
		c.Progress(-1, fmt.Sprintf("%s is %s behind", w.To, behind))
		return fmt.Sprintf("%s is still %s behind", w.To, behind), nil
	})
	if err != nil {
		return nil, err
	}
	if err := takesASmallWrite(ctx, on, w.From); err != nil {
		return nil, err
	}
	return action.Facts{"behind_seconds": behind.Seconds()}, nil
}

// writeWithin is how long the primary may take for a small write.
const writeWithin = 15 * time.Second

// takesASmallWrite refuses a primary that answers and on which writes hang, as they do where its disk is full: clients' transactions would not end, and what
// they wrote would not reach the new primary. It prolongs the claim by a microsecond, whoever has it; where nobody ever had one, nothing is told.
func takesASmallWrite(ctx context.Context, on *cluster.Cluster, node string) error {
	limited, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	err := on.Execute(limited, node, []string{"UPDATE plimsoll.claim SET expires = expires + INTERVAL 1 MICROSECOND WHERE id = 1"}, func(int) {})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil || limited.Err() == nil: // what it answers with is for others to judge
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s answers questions, but a small write to it (plimsoll.claim) got no answer within %s: its disk is full, perhaps, or a client locks its tables", node, writeWithin),
		Advice: fmt.Sprintf("see what its writes wait for (SHOW PROCESSLIST on %s, its error log, the free space of its disk), and try again once they end", node),
	}
}

// Verify looks once more whether it may be.
func (w *checkSwitchover) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	_, err := w.behind(ctx, on)
	return err
}

var pickReplicaAction = action.Action{
	Name: "mysql.pick-replica", Version: 1,
	About: "Finds the replica that has received most from a dead primary, by GTID. Its output is node.",
	New:   func() action.Task { return &pickReplica{} },
}

type pickReplica struct {
	Of     string `yaml:"of,required" doc:"The dead primary."`
	Prefer string `yaml:"prefer" doc:"The node to choose if none has more than it."`
}

var (
	_ action.Verifier         = (*pickReplica)(nil)
	_ action.ApprovalDemander = (*pickReplica)(nil)
)

func (p *pickReplica) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true}
}

// The facts of a pick.
const (
	pickNode   = "node"
	pickSilent = "silent" // the nodes that did not answer, by their names
)

func (p *pickReplica) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	found, err := p.best(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	return action.CheckResult{State: action.Needed, Observed: found.facts(), Reason: p.mayBeLost(on.Name, found)}, nil
}

// ApprovalReason names the nodes that did not answer: what they alone have taken is lost, or has to be merged by hand.
func (p *pickReplica) ApprovalReason(f action.CheckResult) string {
	silent, _ := f.Observed[pickSilent].(string)
	if silent == "" {
		return ""
	}
	return fmt.Sprintf("no answer from %s: there may be transactions that %v lacks, which would be lost or would have to be merged by hand. "+
		"Start it first, if possible", silent, f.Observed[pickNode])
}

// picked is the replica that has most, and what is known of the choice.
type picked struct {
	*server
	has    admin.GTIDSet
	silent []string // nodes that did not answer, and may have more
}

func (f picked) facts() action.Facts {
	facts := action.Facts{pickNode: f.name()}
	if len(f.silent) > 0 {
		facts[pickSilent] = strings.Join(f.silent, ", ")
	}
	return facts
}

// mayBeLost says which transactions the dead primary may have alone, as far as replicas can know, and who was not asked.
func (p *pickReplica) mayBeLost(cluster string, f picked) string {
	after := ""
	if f.has.Count() > 0 {
		after = " after " + f.has.InWords()
	}
	said := fmt.Sprintf("transactions that %s committed%s and sent to no replica exist only on it: no replica can tell whether there are any; %s finds out when it is back", p.Of, after, p.rejoin(cluster))
	for _, name := range f.silent {
		said += fmt.Sprintf("; %s does not answer and may have transactions that %s lacks", name, f.name())
	}
	return said
}

// rejoin is the command that makes the dead primary a replica.
func (p *pickReplica) rejoin(cluster string) string {
	return "plimsoll runbook run mysql/rejoin --cluster " + hint.Quoted(cluster) + " -i node=" + hint.Quoted(p.Of)
}

// best compares what each replica has or has taken of its cluster. Replicas that cannot lead are left out; that they have more than the one
// that is taken is refused, since it would be lost.
func (p *pickReplica) best(ctx context.Context, on *cluster.Cluster) (picked, error) {
	all, err := askBut(ctx, on, p.Of)
	if err != nil {
		return picked{}, err
	}
	if err := refuseSameIDNow(all); err != nil {
		return picked{}, err
	}
	var best *server
	var most, seen admin.GTIDSet
	var refused error
	var silent []string
	var besides []outside // of each of them
	for _, peer := range all {
		if !peer.answers() {
			silent = append(silent, peer.name)
			refused = errors.Join(refused, fmt.Errorf("%s %s: %w", peer.name, peer.silence(), peer.silent))
			continue
		}
		s, err := serverOf(ctx, on, peer.name)
		if err != nil {
			return picked{}, err
		}
		beside, err := heldBy(ctx, s, peer.is)
		if err != nil {
			return picked{}, err
		}
		has := beside.held
		besides = append(besides, beside)
		if err := refuseCandidate(ctx, s, peer.is); err != nil {
			refused = errors.Join(refused, err)
			if len(peer.is.Sources) > 0 { // what is no replica has what it has of itself
				seen = seen.With(has)
			}
			continue
		}
		ahead := has.Without(most).Count() - most.Without(has).Count()
		if best == nil || ahead > 0 || ahead == 0 && s.name() == p.Prefer {
			best, most = s, has
		}
		seen = seen.With(has)
	}
	for _, peer := range all {
		if peer.writable() && len(peer.is.Sources) > 0 && (best == nil || peer.name != best.name()) {
			return picked{}, refuseWritable(peer, "clients may write to it already")
		}
	}
	if best == nil {
		return picked{}, &hint.PermanentError{Reason: fmt.Sprintf("no replica of %s can be the primary: %v", p.Of, refused), Advice: "fix one of them, then plimsoll runbook resume RUN"}
	}
	if lost := seen.Without(most); lost.Count() > 0 && refused != nil {
		refusal := &hint.PermanentError{
			Reason: fmt.Sprintf("%s is the most advanced replica that can be the primary, but lacks %d transactions that others have: %v", best.name(), lost.Count(), refused),
			Advice: "fix the replica that has them, or copy the missing transactions from it",
		}
		for _, beside := range besides {
			if its := lost.Without(lost.Without(beside.held)); its.Count() > 0 {
				refusal = beside.explainLack(its, refusal)
			}
		}
		return picked{}, refusal
	}
	return picked{best, most, silent}, nil
}

func (p *pickReplica) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	found, err := p.best(ctx, on)
	if err != nil {
		return nil, err
	}
	out := found.facts()
	out["received"], out["may be lost"] = found.has.String(), p.mayBeLost(on.Name, found)
	out[action.NextFor] = p.Of
	out[action.Next] = fmt.Sprintf("when %s is back: %s makes it a replica; until then the cluster has one server less", p.Of, p.rejoin(on.Name))
	return out, nil
}

// Verify asks for nothing more: the replicas would say the same as before.
func (p *pickReplica) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
