package channel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var cutOver = action.Action{
	Name: "mysql.cut-over", Version: 1,
	About: "Moves the writes from a server to its replica and keeps replication in the other direction for the way back. No acknowledged write is lost; in between, neither server accepts writes.",
	New:   func() action.Task { return &cutover{WayBack: true, MaxGap: 10 * time.Second, answers: answerTime} },
}

// cutover goes through states that each say by themselves how far it came: the old server still, the way back prepared, the
// new one writable, the way back running.
type cutover struct {
	From    string        `yaml:"from,required" doc:"The node that accepts writes now."`
	To      string        `yaml:"to,required" doc:"The node that will accept them: a replica of it."`
	WayBack bool          `yaml:"way_back" doc:"Whether the old server replicates from the new one afterwards. Without this the cut-over is irreversible. Default true."`
	MaxGap  time.Duration `yaml:"max_gap" doc:"How long no server may accept writes; after that time the old server accepts writes again. Default 10s."`

	answers time.Duration // answerTime, but for tests
}

var (
	_ action.Undoer    = (*cutover)(nil)
	_ action.Validator = (*cutover)(nil)
	_ action.Cautioned = (*cutover)(nil)
)

// Cautions name the option files that decide which server accepts writes after a restart.
func (c *cutover) Cautions(ctx context.Context, on *cluster.Cluster) []action.Caution {
	ctx, cancel := c.within(ctx)
	defer cancel()
	s, err := c.look(ctx, on)
	if err != nil {
		return nil
	}
	defer s.close()
	todo, err := restarts(ctx, s.from, s.to)
	if err != nil || todo == "" {
		return nil
	}
	return []action.Caution{{Text: todo}}
}

func (c *cutover) Validate() error {
	if c.MaxGap < time.Second {
		return fmt.Errorf("max_gap %v, expected at least 1s", c.MaxGap)
	}
	return nil
}

func (c *cutover) Traits() action.Traits {
	if c.WayBack {
		return action.Traits{Effect: action.Reversible, Repeatable: true}
	}
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// answerTime bounds what looks at the two servers, or completes a cut-over, where max_gap is shorter: a server that hangs must not keep the run, and
// with it the cluster, until the deadline of its step.
const answerTime = 30 * time.Second

// within bounds a context by answerTime, or by max_gap where that is longer.
func (c *cutover) within(ctx context.Context) (context.Context, context.CancelFunc) {
	within := max(c.MaxGap, c.answers)
	return context.WithTimeoutCause(ctx, within, fmt.Errorf("%s or %s does not answer within %v", c.From, c.To, within))
}

// outOfTime names the bound in place of what it cut off.
func outOfTime(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *cutover) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	f, err := c.check(ctx, on)
	return f, outOfTime(ctx, err)
}

func (c *cutover) check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	s, err := c.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	defer s.close()
	others, err := otherWriters(ctx, on, c.From, c.To)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"writes": s.writes(), "way_back": s.backward != nil && s.backward.Runs(), othersOpen: strings.Join(others, ", ")},
		Intended: action.Facts{"writes": s.to.name, "way_back": c.WayBack},
	}
	if s.moved() && s.forward == nil && (s.backward != nil && s.backward.Runs()) == c.WayBack {
		f.State = action.Satisfied
		return f, nil
	}
	if f.Reason, err = restarts(ctx, s.from, s.to); err != nil {
		return f, err
	}
	if err := s.refuseSources(); err != nil {
		return f, err
	}
	return f, c.possible(ctx, s)
}

// refuseSources refuses a cut-over from a server that replicates itself, before anything acts: the way back would take the place of its
// source, an undo would remove it, and what comes from there would not reach the new server any more.
func (s *serverPair) refuseSources() error {
	if s.fromStill || !s.toStill {
		return nil // it is in its middle, where the source is the way back
	}
	for _, c := range s.sources {
		if c.Source == s.to.address() && !c.Runs() {
			continue // prepared by an attempt that was given up
		}
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s is itself a replica of %s: a cut-over would make it replicate from the new server instead, no undo would restore the present replication, and %s would no longer receive what comes from there", s.from.name, c.Source, s.to.name),
			Advice: fmt.Sprintf("if %[1]s does not need that source, execute %[2]s on %[1]s, then plimsoll runbook resume RUN", s.from.name, strings.Join(append(s.from.Stop(c.Name), s.from.Forget(c.Name)...), "; ")),
		}
	}
	return nil
}

// possible refuses a cut-over that would lose something.
func (c *cutover) possible(ctx context.Context, s *serverPair) error {
	refuse := func(advice, format string, args ...any) error {
		return &hint.PermanentError{Reason: fmt.Sprintf(format, args...), Advice: advice}
	}
	switch {
	case s.moved(), s.closedAgain():
		return nil // it was interrupted: what is left is to be done
	case !s.fromStill && !s.toStill && s.backward != nil:
		return s.bothWrite()
	case len(s.from.RefusesBy()) == 0 && !s.fromStill:
		return refuse("set read_only = 1 there (rds/set-parameter), which ends the writes of its clients, then plimsoll runbook resume RUN", "only the parameter group of %s can make it read-only: without that, both it and %s would accept writes", s.from.name, s.to.name)
	case len(s.to.RefusesBy()) == 0 && s.toStill:
		return refuse("set read_only = 0 there (rds/set-parameter) when no client writes to "+s.from.name+" any more", "only the parameter group of %s can make it accept writes: without that, neither server would accept writes", s.to.name)
	case s.forward == nil:
		return refuse(fmt.Sprintf("mysql/external-replica -i source=%s -i replica=%s makes it a replica, from a snapshot; with -i snapshot=restored it attaches a server that holds a copy already", s.from.name, s.to.name),
			"%s does not follow %s", s.to.name, s.from.name)
	case !s.toStill:
		return refuse(fmt.Sprintf("execute SET GLOBAL read_only = ON on %s, then compare the two in a step that uses mysql.compare", s.to.name), "%s accepts writes of its own, so its data may differ from %s", s.to.name, s.from.name)
	case !s.fromStill && !s.forward.Runs():
		return refuse(fmt.Sprintf("find the cause, then execute %s on %s", strings.Join(s.to.Start(s.forward.Name), "; "), s.to.name), "replication from %s to %s does not run: %s", s.from.name, s.to.name, s.forward.Error)
	}
	from, err := profileOf(ctx, s.from)
	if err != nil {
		return err
	}
	to, err := profileOf(ctx, s.to)
	if err != nil {
		return err
	}
	if c.WayBack {
		if err := fits(to, from, !s.forward.GTID); err != nil {
			return fmt.Errorf("there would be no way back (way_back: false accepts that): %w", err)
		}
	}
	return awaitObeyed(ctx, s.from)
}

// noOther refuses to open one of the two servers when another node has begun to take writes since they were looked at: it may have taken
// their place. Again is the command that tries it again.
func (c *cutover) noOther(ctx context.Context, on *cluster.Cluster, call action.Call, opened *server, again string) error {
	node, err := newWriter(ctx, on, call.Before, c.From, c.To)
	if err != nil || node == "" {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s accepts writes now, and did not before: %s would be a second primary", node, opened.name),
		Advice: fmt.Sprintf("find out which is to accept writes. If it is %[1]s, leave the others as they are: plimsoll runbook cancel RUN --leave REASON. If it is not, execute SET GLOBAL read_only = ON on %[1]s, then %[2]s",
			node, again),
	}
}

// awaitObeyed refuses a server on which somebody is connected who may write although it is read-only, or an event does. MySQL's
// super_read_only holds everybody.
func awaitObeyed(ctx context.Context, s *server) error {
	if err := admin.RefuseEvents(ctx, asked(s), s.Dialect, admin.VersionOf(s.facts.Version)); err != nil {
		return err
	}
	if _, is := s.Dialect.(admin.MariaDB); !is {
		return nil
	}
	rows, err := s.rows(ctx, admin.PassesReadOnly(admin.VersionOf(s.facts.Version)))
	if err != nil || len(rows) == 0 {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("user %s is connected to %s and may write although it is read-only: writes could be lost", rows[0]["who"], s.name),
		Advice: fmt.Sprintf("execute REVOKE %s ON *.* FROM %s; KILL USER %s on %s: a connection keeps the rights with which it began", rows[0]["rights"], rows[0]["grantee"], admin.Text(rows[0]["who"]), s.name),
	}
}

func (c *cutover) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	s, err := c.look(ctx, on)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.refuseSources(); err != nil {
		return nil, err
	}
	return c.carryOut(ctx, on, call, s)
}

// carryOut is Act, from how the two servers stand.
func (c *cutover) carryOut(ctx context.Context, on *cluster.Cluster, call action.Call, s *serverPair) (action.Facts, error) {
	if err := c.possible(ctx, s); err != nil {
		return nil, err
	}
	out := action.Facts{}
	if !s.moved() {
		if err := c.noOther(ctx, on, call, s.to, "plimsoll runbook resume RUN"); err != nil {
			return nil, err
		}
	}
	switch {
	case s.moved():
	case s.closedAgain(): // it has rows that the old server may lack
		err := s.to.takeWrites(ctx)
		on.RolesChanged()
		if err != nil {
			return nil, err
		}
	default:
		if err := c.levels(ctx, call, s); err != nil {
			return nil, err
		}
		if err := s.from.keepReadOnly(ctx, true); err != nil { // before the gap, in which clients wait
			return nil, err
		}
		gap, err := c.move(ctx, on, call, s)
		on.RolesChanged()
		if err != nil {
			return nil, err
		}
		out["gap_seconds"] = gap.Seconds()
	}
	call.Progress(0.9, "completing")
	ctx, cancel := c.within(ctx)
	defer cancel()
	todo, err := restarts(ctx, s.from, s.to)
	if err != nil {
		return out, outOfTime(ctx, err)
	}
	events := admin.EventsToEnable(ctx, asked(s.to))
	if next := slices.DeleteFunc([]string{todo, events}, func(text string) bool { return text == "" }); len(next) > 0 {
		out[action.Next] = strings.Join(next, ". ")
	}
	return out, outOfTime(ctx, c.complete(ctx, s))
}

// move is the time in which nobody writes. If it fails before the new server takes writes, the old one does again.
func (c *cutover) move(ctx context.Context, on *cluster.Cluster, call action.Call, s *serverPair) (time.Duration, error) {
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, c.MaxGap, fmt.Errorf("not done within max_gap %v", c.MaxGap))
	defer cancel()
	err := c.prepare(limited, s)
	if err == nil {
		err = limited.Err()
	}
	if err != nil {
		return 0, c.giveUp(context.WithoutCancel(ctx), on, call, s, err)
	}
	err = s.to.takeWrites(ctx)
	if stays := (*admin.StaysReadOnlyError)(nil); errors.As(err, &stays) {
		return 0, c.giveUp(context.WithoutCancel(ctx), on, call, s, err)
	}
	if err != nil {
		return 0, hint.With(fmt.Errorf("%s stays read-only, as %s may accept writes: %w", s.from.name, s.to.name, err), "when "+s.to.name+" answers, plimsoll runbook resume RUN completes it")
	}
	return time.Since(began), nil
}

// prepare does all that must be before the new server may take writes.
func (c *cutover) prepare(ctx context.Context, s *serverPair) error {
	patience := fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int64(c.MaxGap/time.Second))
	if err := s.from.refuseNow(ctx, patience); err != nil {
		return err
	}
	if err := awaitLevel(ctx, s.to, s.from, *s.forward); err != nil {
		return err
	}
	if c.WayBack {
		if err := s.prepareWayBack(ctx); err != nil {
			return err
		}
	}
	return s.to.order(ctx, "stop replication", s.to.Stop(s.forward.Name)...)
}

// prepareWayBack makes the channel on the old server, from where the new one stands before its first write.
func (s *serverPair) prepareWayBack(ctx context.Context) error {
	by, err := s.to.origin()
	if err != nil {
		return err
	}
	if s.backward != nil { // of an attempt that was cut off; MariaDB sets no position while it runs
		if err := s.from.drop(ctx, s.backward.Name); err != nil {
			return err
		}
	}
	if !s.forward.GTID {
		if by.Place, err = s.to.end(ctx); err != nil {
			return err
		}
	} else if err := sameState(ctx, s.from, s.to); err != nil {
		return err
	}
	return s.from.follow(ctx, s.to, s.forward.Name, by)
}

// sameState says that a server has all that another's binary log has: true of the one whose changes the other has replicated.
// MySQL knows it by itself.
func sameState(ctx context.Context, s *server, other *server) error {
	if _, is := s.Dialect.(admin.MariaDB); !is {
		return nil
	}
	mine, err := s.gtids(ctx, admin.MariaDB{}.Replicated())
	if err != nil {
		return err
	}
	theirs, err := other.gtids(ctx, other.Position())
	if err != nil {
		return err
	}
	return s.order(ctx, "set where replication begins", admin.MariaDB{}.SetReplicated(theirs.Over(mine)))
}

func (s *server) gtids(ctx context.Context, query string) (admin.Position, error) {
	text, err := s.value(ctx, query)
	if err != nil {
		return nil, err
	}
	return admin.ParsePosition(text)
}

// complete does what is left when the writes have moved: the replica that was forgets its source, and the way back begins.
func (c *cutover) complete(ctx context.Context, s *serverPair) error {
	if err := s.to.keepReadOnly(ctx, false); err != nil { // and after it
		return err
	}
	if err := s.refresh(ctx); err != nil {
		return err
	}
	if s.forward != nil {
		if err := s.to.drop(ctx, s.forward.Name); err != nil {
			return err
		}
	}
	switch {
	case !c.WayBack && s.backward != nil:
		return s.from.drop(ctx, s.backward.Name)
	case !c.WayBack:
		return nil
	case s.backward == nil:
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s accepts writes, and %s does not replicate from it: it was not prepared", s.to.name, s.from.name),
			Advice: fmt.Sprintf("the writes have moved: plimsoll runbook cancel RUN --leave REASON. Then mysql/external-replica -i source=%[1]s -i replica=%[2]s -i snapshot=restored makes %[2]s a replica as it is; "+
				"this is refused if %[2]s has what %[1]s never had: then restore a snapshot of %[1]s to it first", s.to.name, s.from.name),
		}
	}
	return s.from.run(ctx, s.backward.Name)
}
