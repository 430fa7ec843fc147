package replication

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// stillHas refuses a replica that was picked in place of a dead primary and has less now than then, or less than another that answers. An approval may
// have taken hours, and a replica that restarts meanwhile can discard what it had received and not applied: MariaDB with GTIDs always does, MySQL with
// relay_log_recovery.
func (p *promote) stillHas(ctx context.Context, s *server, is engine.ReplicationStatus) error {
	if p.Old == "" { // then every other node was compared
		return nil
	}
	const again = "plimsoll runbook rerun RUN --step pick --downstream --reason REASON picks a replica again, by what each has now"
	now, err := s.received(ctx, is)
	if err != nil {
		return err
	}
	had, err := admin.ParseGTIDSet(p.Received)
	if err != nil {
		return fmt.Errorf("received: %w", err)
	}
	if gone := had.Without(now); gone.Count() > 0 {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s had received %s when it was picked, and no longer has %s: a restart discarded what it had not applied", s.name(), had.InWords(), gone.InWords()),
			Advice: fmt.Sprintf("if %s can be started again, do that first: these transactions may exist only there. If not, %s, and says what is lost", p.Old, again),
		}
	}
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.name == p.Old || !o.answers() {
			continue
		}
		missing, err := lacks(ctx, s, is, o)
		if err != nil {
			return err
		}
		if missing.of.Count() > 0 && !missing.apart {
			return missing.beside.explainLack(missing.of, &hint.PermanentError{Reason: fmt.Sprintf("%s lacks %d transactions that %s has, which would be lost", s.name(), missing.of.Count(), o.name), Advice: again})
		}
	}
	return nil
}
