package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Journal is a run's journal, as the session that executes it has it. It is used by one goroutine.
type Journal struct {
	run     string
	session int
	order   json.RawMessage
	entries []Entry
	runtime dbos.Context
	store   *Store
	lease   *executorLease
	drain   <-chan struct{}
}

// stepName is the one name under which the library keeps entries, whatever they say.
const stepName = "entry"

// openJournal reads what earlier sessions wrote and what this one had written before it was interrupted.
func (e *Executor) openJournal(runtime dbos.Context, o sessionStart) (*Journal, error) {
	j := &Journal{run: o.Run, session: o.Session, order: json.RawMessage(o.Data), runtime: runtime, store: e.store, drain: e.drain}
	earlier, err := sessionEntries(runtime, e.store, o.Run, 1, o.Session-1)
	if err != nil {
		return nil, err
	}
	own, err := sessionEntries(runtime, e.store, o.Run, o.Session, o.Session)
	if err != nil {
		return nil, err
	}
	for range own { // the library counts its steps: each must be gone through again
		_, err := dbos.RunAsStep(runtime, func(context.Context) (string, error) {
			return "", errors.New("an entry that was read before is missing")
		}, dbos.WithStepName(stepName))
		if err != nil {
			return nil, fmt.Errorf("read the journal of %s: %w", o.Run, err)
		}
	}
	j.entries = append(earlier, own...)
	return j, nil
}

// Run is the name of the run.
func (j *Journal) Run() string { return j.run }

// Session is the number of this session, from 1.
func (j *Journal) Session() int { return j.session }

// Order is what Start was given.
func (j *Journal) Order() json.RawMessage { return j.order }

// Entries are all entries so far, of earlier sessions too. The caller does not change them.
func (j *Journal) Entries() []Entry { return j.entries }

// Draining is closed when the session is to stop at its next boundary.
func (j *Journal) Draining() <-chan struct{} { return j.drain }

// Confirm asks whether the run is still this executor's, which who slept does not know, and whether the journal is still where it is
// written: ErrTakenOver, *AlteredError when it is not.
func (j *Journal) Confirm(ctx context.Context) error {
	if err := refuseIfMoved(j.store); err != nil {
		return err
	}
	if err := j.lease.confirm(ctx); err != nil {
		return err
	}
	if len(j.entries) == 0 {
		return nil
	}
	last := j.entries[len(j.entries)-1]
	head, known, err := j.store.head(ctx, j.run)
	if err == nil && (!known || head.Number != last.Number || head.Hash != last.Hash) {
		err = &AlteredError{j.run, "the store does not have the entry that was written last"}
	}
	return err
}

// Verify looks whether the journal is as it was written: no entry changed, missing or cut off. *AlteredError when it is not.
func (j *Journal) Verify(ctx context.Context) error {
	return verifyHead(ctx, j.store, j.run, j.entries)
}

// Append writes an entry. It is on disk when Append returns nil; after an error nothing more can be written in this session.
func (j *Journal) Append(data json.RawMessage) (Entry, error) {
	var last Entry
	if n := len(j.entries); n > 0 {
		last = j.entries[n-1]
	}
	next := last.Follow(j.session, time.Now(), data)
	text, err := json.Marshal(next)
	if err != nil {
		return next, fmt.Errorf("write the journal: %w", err)
	}
	j.tell(Moment{Run: j.run, Number: next.Number, Before: true, Data: data})
	_, err = dbos.RunAsStep(j.runtime, func(context.Context) (string, error) { return string(text), nil }, dbos.WithStepName(stepName))
	if errors.Is(err, dbos.ErrWorkflowCancelled) && j.runtime.Err() == nil {
		return next, fmt.Errorf("write the journal: %w", ErrTakenOver)
	}
	if err != nil {
		return next, fmt.Errorf("write the journal: %w", j.store.options.plainly(err))
	}
	j.entries = append(j.entries, next)
	if err := noteHead(context.WithoutCancel(j.runtime), j.store, j.run, next); err != nil {
		return next, err
	}
	j.tell(Moment{Run: j.run, Number: next.Number, Data: data})
	return next, nil
}

// ErrTakenOver says that another executor has begun a later session of the run.
var ErrTakenOver = errors.New("another process has taken over the run")

func (j *Journal) tell(m Moment) {
	if j.store.options.Written != nil {
		j.store.options.Written(m)
	}
}
