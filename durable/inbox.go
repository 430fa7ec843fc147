package durable

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Message is something a person said to a run: an approval, a cancellation. Whoever executes the run journals its
// number with the entry that took it, and so takes it once.
type Message struct {
	Number int
	At     time.Time
	Data   json.RawMessage
}

// Send leaves a message for a run, whether or not somebody executes it.
func (s *Store) Send(ctx context.Context, run string, data json.RawMessage) error {
	if _, err := s.Run(ctx, run); err != nil {
		return err
	}
	return s.db.number(ctx, "send to run "+run, `INSERT INTO {messages} (run, number, at, data)
		SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ? FROM {messages} WHERE run = ?`, run, time.Now().UnixMicro(), string(data), run)
}

// Messages returns those with a number above after, in order.
func (s *Store) Messages(ctx context.Context, run string, after int) ([]Message, error) {
	var all []Message
	err := s.db.each(ctx, func(rows *sql.Rows) error {
		var m Message
		var at int64
		var data string
		err := rows.Scan(&m.Number, &at, &data)
		m.At, m.Data = time.UnixMicro(at), json.RawMessage(data)
		all = append(all, m)
		return err
	}, `SELECT number, at, data FROM {messages} WHERE run = ? AND number > ? ORDER BY number`, run, after)
	if err != nil {
		return nil, fmt.Errorf("read the messages of %s: %w", run, err)
	}
	return all, nil
}

// number runs an insert that numbers its row after the last; on a shared server two may pick the same number, so it tries again.
func (d *database) number(ctx context.Context, what, text string, args ...any) error {
	var err error
	for range 5 {
		if _, err = d.exec(ctx, text, args...); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
