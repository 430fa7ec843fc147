package durable

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Read is how far a journal was read; the zero Read: not at all.
type Read struct {
	Session int // the last of which something was read
	Of      int // how many of its entries were
}

// EntriesAfter returns the entries of a run's journal that were not read yet, at most so many of them, and how far it is read with them; 0: all.
func (s *Store) EntriesAfter(ctx context.Context, id string, so Read, most int) ([]Entry, Read, error) {
	r, err := s.Run(ctx, id)
	if err != nil {
		return nil, so, err
	}
	var later []Entry
	for n := max(so.Session, 1); n <= r.Sessions && (most == 0 || len(later) < most); n++ {
		skip, left := 0, 0
		if n == so.Session {
			skip = so.Of
		}
		if most > 0 {
			left = most - len(later)
		}
		more, err := stepsOf(ctx, s, id, n, skip, left)
		if err != nil {
			return nil, so, err
		}
		if len(more) > 0 {
			later, so = append(later, more...), Read{n, skip + len(more)}
		}
	}
	return later, so, nil
}

// EntriesBefore returns the last entries, at most so many, of those before the one of a number, or of all where that is 0. What comes
// before them is not read: a journal may be long.
func (s *Store) EntriesBefore(ctx context.Context, id string, number, most int) ([]Entry, error) {
	r, err := s.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if number == 1 {
		return nil, nil
	}
	noted, known, err := s.head(ctx, id)
	if err != nil {
		return nil, err
	}
	var all []Entry
	last := number - 1 // of those that are wanted and not read yet; below 1: the journal's last
	for n := r.Sessions; n > 0 && len(all) < most; n-- {
		first, err := stepsOf(ctx, s, id, n, 0, 1)
		if err != nil {
			return nil, err
		}
		if len(first) == 0 || last > 0 && first[0].Number > last {
			continue
		}
		begin, end := first[0].Number, last
		if end < 1 && known { // one more may have been written than is noted: it is read too
			end = noted.Number
		}
		from, limit := begin, 0
		if end > 0 {
			from = max(begin, end-(most-len(all))+1)
		}
		if last > 0 {
			limit = last - from + 1
		}
		more, err := stepsOf(ctx, s, id, n, from-begin, limit)
		if err != nil {
			return nil, err
		}
		all, last = slices.Concat(more, all), begin-1
		if last < 1 {
			break
		}
	}
	return all[max(len(all)-most, 0):], nil
}

// Length is how many entries the journals of all runs have together: when it grows, something happened. It is asked for often.
func Length(ctx context.Context, s *Store) (int, error) {
	var n sql.NullInt64
	if err := s.db.row(ctx, `SELECT SUM(number) FROM {heads}`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read the heads of the journals: %w", err)
	}
	return int(n.Int64), nil
}

// sessionEntries reads what was written in the sessions of these numbers.
func sessionEntries(ctx context.Context, s *Store, id string, from, to int) ([]Entry, error) {
	var entries []Entry
	for n := from; n <= to; n++ {
		more, err := stepsOf(ctx, s, id, n, 0, 0)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	return entries, nil
}

// stepsOf reads the entries of one session, without the first few, and at most so many of them; 0: all.
func stepsOf(ctx context.Context, s *Store, id string, session, skip, most int) ([]Entry, error) {
	options := []dbos.GetWorkflowStepsOption{dbos.WithStepsLoadOutput(true)}
	if skip > 0 {
		options = append(options, dbos.WithStepsOffset(skip))
	}
	if most > 0 {
		options = append(options, dbos.WithStepsLimit(most))
	}
	steps, err := dbos.GetWorkflowSteps(s.reading(ctx), sessionID(id, session), options...)
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", id, err)
	}
	entries := make([]Entry, 0, len(steps))
	for _, step := range steps {
		e, err := decodeEntry(step.Output)
		if err != nil {
			return nil, fmt.Errorf("read the journal of %s, entry %d of session %d: %w", id, skip+len(entries)+1, session, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}
