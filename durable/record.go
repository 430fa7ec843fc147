package durable

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Record is a fact that outlives its run: a rehearsal, how long a step took. Records are never changed.
type Record struct {
	Number int
	At     time.Time
	Data   json.RawMessage
}

// Keep adds a record under a kind and a name.
func (s *Store) Keep(ctx context.Context, kind, name string, data json.RawMessage) error {
	return s.db.number(ctx, "keep a "+kind, `INSERT INTO {records} (kind, name, number, at, data)
		SELECT ?, ?, COALESCE(MAX(number), 0) + 1, ?, ? FROM {records} WHERE kind = ? AND name = ?`,
		kind, name, time.Now().UnixMicro(), string(data), kind, name)
}

// Records returns those of a kind and a name, the oldest first.
func (s *Store) Records(ctx context.Context, kind, name string) ([]Record, error) {
	var all []Record
	err := s.db.each(ctx, func(rows *sql.Rows) error {
		var r Record
		var at int64
		var data string
		err := rows.Scan(&r.Number, &at, &data)
		r.At, r.Data = time.UnixMicro(at), json.RawMessage(data)
		all = append(all, r)
		return err
	}, `SELECT number, at, data FROM {records} WHERE kind = ? AND name = ? ORDER BY number`, kind, name)
	if err != nil {
		return nil, fmt.Errorf("read the records of %s: %w", name, err)
	}
	return all, nil
}
