package durable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Format is the number of our part of a store. It rises when a release changes a table; older stores are brought up.
const Format = 2

// runtimeFormat is the newest number of the library's own tables that this release was tested with.
const runtimeFormat = 107

// upgrades bring a store from format i to i+1. They are never edited once released.
var upgrades = []string{
	`CREATE TABLE {runs} (run TEXT PRIMARY KEY, created BIGINT NOT NULL, executor TEXT NOT NULL, stints BIGINT NOT NULL DEFAULT 0, header TEXT NOT NULL);
	 CREATE TABLE {summaries} (run TEXT PRIMARY KEY, at BIGINT NOT NULL, data TEXT NOT NULL);
	 CREATE TABLE {messages} (run TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run, number));
	 CREATE TABLE {leases} (name TEXT PRIMARY KEY, holder TEXT NOT NULL, epoch BIGINT NOT NULL, expires BIGINT NOT NULL);
	 CREATE TABLE {records} (kind TEXT NOT NULL, name TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (kind, name, number))`,
	`CREATE TABLE {heads} (run TEXT PRIMARY KEY, number BIGINT NOT NULL, hash TEXT NOT NULL)`,
}

// upgrade makes or brings up our tables, and refuses a store that a newer release has written.
func (d *database) upgrade(ctx context.Context) error {
	if err := d.refuseNewerRuntime(ctx); err != nil {
		return err
	}
	var now int
	if err := d.QueryRowContext(ctx, d.statement(`SELECT number FROM {format}`)).Scan(&now); err == nil && now == Format {
		return nil // nothing is written: a writer that was stopped in the middle keeps nobody from looking
	}
	if d.pool != nil {
		if _, err := d.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+schema); err != nil {
			return fmt.Errorf("make the store: %w", err)
		}
	}
	if _, err := d.exec(ctx, `CREATE TABLE IF NOT EXISTS {format} (number BIGINT NOT NULL)`); err != nil {
		return fmt.Errorf("make the store: %w", err)
	}
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("make the store: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if d.pool != nil {
		if _, err := tx.ExecContext(ctx, d.statement(`LOCK TABLE {format}`)); err != nil {
			return fmt.Errorf("make the store: %w", err)
		}
	}
	var have int
	err = tx.QueryRowContext(ctx, d.statement(`SELECT number FROM {format}`)).Scan(&have)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read the store's format: %w", err)
	}
	if have > Format {
		return NewerError{Have: have, Know: Format}
	}
	if have == Format {
		return nil
	}
	for i := have; i < Format; i++ {
		for text := range strings.SplitSeq(upgrades[i], ";") {
			if _, err := tx.ExecContext(ctx, d.statement(text)); err != nil {
				return fmt.Errorf("upgrade the store to format %d: %w", i+1, err)
			}
		}
	}
	text := `UPDATE {format} SET number = ?`
	if have == 0 {
		text = `INSERT INTO {format} (number) VALUES (?)`
	}
	if _, err := tx.ExecContext(ctx, d.statement(text), Format); err != nil {
		return fmt.Errorf("record the store's format: %w", err)
	}
	return tx.Commit()
}

func (d *database) refuseNewerRuntime(ctx context.Context) error {
	probe, read := `SELECT COUNT(*) FROM sqlite_master WHERE name = 'dbos_migrations'`, `SELECT COALESCE(MAX(version), 0) FROM dbos_migrations`
	if d.pool != nil {
		probe = `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '` + schema + `' AND table_name = 'dbos_migrations'`
		read = `SELECT COALESCE(MAX(version), 0) FROM ` + schema + `.dbos_migrations`
	}
	var have int
	if err := d.QueryRowContext(ctx, probe).Scan(&have); err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	if have == 0 {
		return nil
	}
	if err := d.QueryRowContext(ctx, read).Scan(&have); err != nil {
		return fmt.Errorf("read the store's format: %w", err)
	}
	if have > runtimeFormat {
		return NewerError{Have: have, Know: runtimeFormat}
	}
	return nil
}

// NewerError says that a newer release has written the store.
type NewerError struct{ Have, Know int }

func (e NewerError) Error() string {
	return fmt.Sprintf("the state was written by a newer Plimsoll (format %d, this one knows %d)", e.Have, e.Know)
}

// Hint says what to do.
func (e NewerError) Hint() string { return "use that release, or another state folder" }
