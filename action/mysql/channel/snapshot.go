package channel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// position is up to where a consistent view of a server's data goes.
type position struct {
	gtids string
	place admin.Place
}

// canCopy refuses databases that are not there, or that hold what a copy by SQL would not bring over whole.
func canCopy(ctx context.Context, s *server, databases []string) error {
	refuse := func(advice, format string, args ...any) error {
		return &hint.PermanentError{Reason: fmt.Sprintf(format, args...), Advice: advice}
	}
	there, err := s.databases(ctx)
	if err != nil {
		return err
	}
	for _, database := range databases {
		if !slices.Contains(there, database) {
			return refuse("name its databases", "%s has no database %s", s.name, database)
		}
	}
	odd, err := s.rows(ctx, "SELECT CONCAT(table_schema, '.', table_name) AS t, table_type AS k, engine AS e FROM information_schema.tables "+
		"WHERE table_schema IN "+schemaList(databases)+" AND (table_type NOT IN ('BASE TABLE', 'VIEW') OR table_type = 'BASE TABLE' AND engine <> 'InnoDB') LIMIT 1")
	if err != nil {
		return err
	}
	if len(odd) > 0 {
		what := odd[0]["k"]
		if what == "BASE TABLE" {
			what = odd[0]["e"]
		}
		return refuse("convert it to InnoDB, or leave its database out", "%s of %s is %s: its copy would not be consistent", odd[0]["t"], s.name, what)
	}
	events, err := s.value(ctx, "SELECT COUNT(*) FROM information_schema.events WHERE event_schema IN "+schemaList(databases))
	if err != nil {
		return err
	}
	if events != "0" {
		return refuse("run them elsewhere, or drop them", "%s has %s events in %s, which would change the copied data on the replica", s.name, events, strings.Join(databases, ", "))
	}
	tables, err := s.tables(ctx, databases)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if len(t.key) == 0 && t.rows > keyless {
			return refuse("give it a primary key", "%s of %s has about %d rows and no key to read it by", t, s.name, t.rows)
		}
	}
	return nil
}

// consistentSnapshot begins a transaction on a server that sees its data as they were at the position returned.
//
// MariaDB says by itself where in its binary log a consistent snapshot stands (status variables binlog_snapshot_file and
// _position). MySQL does not: there the tables are locked against writes for as long as it takes to begin the transaction.
func consistentSnapshot(ctx context.Context, s *server, databases []string) (position, error) {
	begin := []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET SESSION time_zone = '+00:00'", "START TRANSACTION WITH CONSISTENT SNAPSHOT",
	}
	if _, is := s.Dialect.(admin.MariaDB); is {
		if err := s.do(ctx, "begin a consistent snapshot", begin...); err != nil {
			return position{}, err
		}
		return snapshotPosition(ctx, s)
	}
	tables, err := s.tables(ctx, databases)
	if err != nil {
		return position{}, err
	}
	lock, err := dial(ctx, s.on, s.node)
	if err != nil {
		return position{}, err
	}
	defer lock.Close()
	if err := lockTables(ctx, lock, tables); err != nil {
		return position{}, err
	}
	if err := s.do(ctx, "begin a consistent snapshot", begin...); err != nil {
		return position{}, err
	}
	at := position{}
	if at.gtids, err = s.value(ctx, s.Position()); err != nil {
		return at, err
	}
	if at.place, err = s.end(ctx); err != nil {
		return at, err
	}
	return at, lock.do(ctx, "unlock tables", "UNLOCK TABLES")
}

// lockTables holds writes on tables. It waits for none that takes longer than some seconds, because everybody would then wait
// behind it, but tries again.
func lockTables(ctx context.Context, s *server, tables []table) error {
	if len(tables) == 0 {
		return nil
	}
	all := make([]string, len(tables))
	for i, t := range tables {
		all[i] = t.quoted() + " READ"
	}
	if err := s.do(ctx, "lock tables", "SET SESSION lock_wait_timeout = 3"); err != nil {
		return err
	}
	const tries = 20
	for n := 1; ; n++ {
		err := s.do(ctx, "lock tables", "LOCK TABLES "+strings.Join(all, ", "))
		if engine.ClassOf(err) != engine.LockTimeout || n == tries {
			return err
		}
	}
}

// snapshotPosition is where MariaDB says that the transaction's view stands.
func snapshotPosition(ctx context.Context, s *server) (position, error) {
	rows, err := s.rows(ctx, "SHOW STATUS LIKE 'binlog_snapshot_%'")
	if err != nil {
		return position{}, err
	}
	at := position{}
	for _, row := range rows {
		switch strings.ToLower(row["variable_name"]) {
		case "binlog_snapshot_file":
			at.place.File = row["value"]
		case "binlog_snapshot_position":
			at.place.At = row["value"]
		}
	}
	if at.place.File == "" {
		return at, errors.New("the server does not tell the position of the snapshot in its binary log")
	}
	at.gtids, err = s.value(ctx, admin.PositionAt(at.place))
	return at, err
}
