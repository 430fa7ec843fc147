package replication

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// link is a replica and the server that it replicates from, or is to replicate from.
type link struct{ replica, source *server }

// runs tells whether the replica follows the source by GTID and without trouble; is what the replica says of itself.
func (l link) runs(ctx context.Context, is engine.ReplicationStatus) (bool, error) {
	beside, err := outsideOf(ctx, l.replica, is)
	if err != nil || beside.main == nil {
		return false, err
	}
	theirs, err := l.source.status(ctx)
	if err != nil {
		return false, err
	}
	from := beside.main
	return l.source.isSource(*from, theirs.ServerID) && from.Automatic && from.Receives && from.Applies, nil
}

// mayBegin refuses what cannot become, or should not be, a replica of the source.
func (l link) mayBegin(ctx context.Context) error {
	s, source := l.replica, l.source
	if s.name() == source.name() {
		return &hint.PermanentError{Reason: s.name() + " cannot replicate from itself", Advice: "name another source"}
	}
	if s.mariadb != source.mariadb {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s and %s are different products: their GTIDs are not the same", s.name(), source.name()),
			Advice: "replicate between servers of one product"}
	}
	if log, err := source.value(ctx, admin.Global("log_bin")); err != nil {
		return err
	} else if log != "1" && log != "ON" {
		return &hint.PermanentError{Reason: source.name() + " writes no binary log", Advice: "set log_bin: on and restart it"}
	}
	if err := l.refuseSameID(ctx); err != nil {
		return err
	}
	if err := l.refuseErrant(ctx); err != nil {
		return err
	}
	if err := l.refuseCircle(ctx); err != nil {
		return err
	}
	if s.mariadb {
		return nil // whether the source still has what is lacking shows when it is asked for it
	}
	has, err := s.executed(ctx)
	if err != nil {
		return err
	}
	purged, err := source.set(ctx, admin.Global("gtid_purged"))
	if err != nil {
		return err
	}
	if gone := purged.Without(has); gone.Count() > 0 {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s lacks %d transactions that %s no longer has in its binary logs", s.name(), gone.Count(), source.name()),
			Advice: seedAgain(s),
		}
	}
	return nil
}

// refuseSameID refuses a replica that has the server id of its source.
func (l link) refuseSameID(ctx context.Context) error {
	mine, err := l.replica.status(ctx)
	if err != nil {
		return err
	}
	theirs, err := l.source.status(ctx)
	if err != nil {
		return err
	}
	return refuseSameID([]peer{{name: l.replica.name(), is: mine}, {name: l.source.name(), is: theirs}})
}

// refuseCircle refuses a source that replicates from the replica: that was made its primary meanwhile, and nobody would take writes.
func (l link) refuseCircle(ctx context.Context) error {
	s, source := l.replica, l.source
	is, err := s.status(ctx)
	if err != nil {
		return err
	}
	theirs, err := source.status(ctx)
	if err != nil {
		return err
	}
	for _, from := range theirs.Sources {
		if s.isSource(from, is.ServerID) {
			refusal := &hint.PermanentError{Reason: fmt.Sprintf("%s replicates from %s: each would replicate from the other", source.name(), s.name()),
				Advice: "if " + s.name() + " is the primary, leave it as it is; mysql/switchover -i to=NODE makes another node the primary"}
			if !from.Receives && !from.Applies {
				reset := "RESET REPLICA ALL"
				if source.mariadb {
					reset = "RESET SLAVE ALL"
				}
				refusal.Reason = fmt.Sprintf("%s is still configured to replicate from %s, though that is stopped: each would replicate from the other", source.name(), s.name())
				refusal.Advice += fmt.Sprintf("; if %s is meant to be the primary, execute %s on it and try again", source.name(), reset)
			}
			return refusal
		}
	}
	return nil
}

// refuseErrant refuses a replica with transactions that its source does not have, whether it replicates from it already or not.
func (l link) refuseErrant(ctx context.Context) error {
	errant, err := l.errant(ctx)
	if err != nil || len(errant) == 0 {
		return err
	}
	is, err := l.replica.status(ctx)
	if err != nil {
		return err
	}
	beside, err := outsideOf(ctx, l.replica, is)
	if err != nil {
		return err
	}
	if errant = beside.trusting().own(errant); len(errant) == 0 {
		return nil
	}
	what := fmt.Sprintf("%d transactions", errant.Count())
	if l.replica.mariadb { // positions, of which only the last numbers are errant
		what = "transactions"
	}
	return beside.explain(errant, &hint.PermanentError{
		Reason: fmt.Sprintf("%s has %s that %s does not have (%s): their data would differ for ever", l.replica.name(), what, l.source.name(), errant),
		Advice: "find these transactions in its binary log and execute those that you need on the primary. Then seed the server again: " + seedAgain(l.replica),
	})
}

// errant is what the replica has that its source has not, and that did not come from outside of the cluster: written where nothing should have been.
// The replica is asked before the source, which may go on.
func (l link) errant(ctx context.Context) (admin.GTIDSet, error) {
	state := func(of *server) (admin.GTIDSet, error) {
		if !of.mariadb {
			return of.executed(ctx)
		}
		text, err := of.value(ctx, admin.Global("gtid_binlog_state"))
		if err != nil {
			return nil, err
		}
		return admin.ParsePositionSet(text, true)
	}
	own, err := state(l.replica)
	if err != nil {
		return nil, err
	}
	theirs, err := state(l.source)
	if err != nil {
		return nil, err
	}
	left := own.Without(theirs)
	if len(left) == 0 {
		return left, nil
	}
	is, err := l.replica.status(ctx)
	if err != nil {
		return nil, err
	}
	beside, err := outsideOf(ctx, l.replica, is)
	if err != nil {
		return nil, err
	}
	return beside.own(left), beside.refuseMixed()
}
