package lock

import (
	"context"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// BusyError says that a cluster is held by an unfinished run of this store.
type BusyError struct {
	Cluster, Run string
	By           string    // who executes or executed it, and where
	Since        time.Time // when it began; zero: not known
	Status       string
	Executed     bool      // by a process of this state folder, now
	Past         bool      // another has had the cluster since: it never goes on
	Idle         bool      // nobody has executed it for so long that its lock has expired
	Unmade       bool      // it is being begun, or its process died before it was
	Until        time.Time // of the lock, if it is not prolonged
}

func (l *Locks) busy(ctx context.Context, cluster string, lease durable.Lease) error {
	e := &BusyError{Cluster: cluster, Run: lease.Holder, Idle: lease.Expires.Before(time.Now()), Until: lease.Expires, Unmade: l.unmade(ctx, lease.Holder)}
	if st, err := journal.Load(ctx, l.Store, l.Actions, lease.Holder); err == nil {
		e.By, e.Since, e.Status, e.Past = st.Holder, st.Header.At, st.Status(), st.Past
		e.Executed, _ = l.Store.Executes(ctx, lease.Holder) // else it is not said that it is
		if e.By == "" {
			e.By = st.Header.By
		}
	}
	return e
}

func (e *BusyError) Error() string {
	text := fmt.Sprintf("cluster %s is locked by run %s", e.Cluster, e.Run)
	if e.By != "" {
		text += " of " + e.By
	}
	if !e.Since.IsZero() {
		text += ", since " + e.Since.Local().Format(time.DateTime)
	}
	if e.Unmade {
		text += ", which is starting or ended before it began"
	}
	switch {
	case e.Status == "running" && !e.Executed:
		text += ": stopped, no process of this state folder executes it"
	case e.Status != "":
		text += ": " + journal.InWords(e.Status)
	}
	return text
}

// Hint says what to do.
func (e *BusyError) Hint() string {
	if e.Unmade && !e.Idle {
		return "try again in a moment; if the process that began it died, the lock expires after " + e.Until.Local().Format(time.TimeOnly)
	}
	if e.Unmade {
		return "its process died before it could release the cluster: try again when the cluster answers, or: " + action.TakeOver(e.Cluster)
	}
	if e.Executed {
		return fmt.Sprintf("plimsoll runbook status %[1]s shows how far it is: wait until it ends; plimsoll runbook cancel %[1]s ends it, or says why it cannot", e.Run)
	}
	hint := fmt.Sprintf("plimsoll runbook status %s shows it; %s", e.Run, (&journal.State{Past: e.Past}).ContinueHint(e.Run))
	if e.Idle {
		hint += "; no process executes it: " + action.TakeOver(e.Cluster)
	}
	return hint
}
