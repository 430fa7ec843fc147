package channel

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/engine/mysql/admin"
)

// Where a database came from stands on the replica itself: whoever goes on after a crash, or adds a channel next year, finds it
// there and in no journal.
const makeSeeds = `CREATE TABLE IF NOT EXISTS plimsoll.seed (db VARCHAR(64) PRIMARY KEY, source VARCHAR(255) NOT NULL,
	domain VARCHAR(10) NOT NULL, state VARCHAR(10) NOT NULL, gtids LONGTEXT NOT NULL, log_file VARCHAR(255) NOT NULL, log_at VARCHAR(20) NOT NULL,
	row_count BIGINT NOT NULL, at DATETIME(6) NOT NULL, own_file VARCHAR(255) NOT NULL DEFAULT '', own_at VARCHAR(20) NOT NULL DEFAULT '')`

// addOwnPlace adds what the table lacks where an older Plimsoll made it.
const addOwnPlace = "ALTER TABLE plimsoll.seed ADD COLUMN own_file VARCHAR(255) NOT NULL DEFAULT '', ADD COLUMN own_at VARCHAR(20) NOT NULL DEFAULT ''"

// seedRow is one database that was copied from a source, or is being copied.
type seedRow struct {
	database, source string
	domain           string // of the source, in MariaDB
	state            string
	gtids            string      // up to which its rows go
	place            admin.Place // the same, in the source's binary log
	own              admin.Place // where the replica's own binary log ended when the copy was whole; zero: it has none, or an older Plimsoll copied
}

const (
	copying = "copying"
	done    = "copied"
)

func seedsOfServer(ctx context.Context, s *server) ([]seedRow, error) {
	there, err := s.value(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'plimsoll' AND table_name = 'seed'")
	if err != nil || there == "0" {
		return nil, err
	}
	rows, err := s.rows(ctx, "SELECT * FROM plimsoll.seed ORDER BY db")
	all := make([]seedRow, len(rows))
	for i, row := range rows {
		all[i] = seedRow{
			database: row["db"], source: row["source"], domain: row["domain"], state: row["state"], gtids: row["gtids"],
			place: admin.Place{File: row["log_file"], At: row["log_at"]}, own: admin.Place{File: row["own_file"], At: row["own_at"]},
		}
	}
	return all, err
}

// seedsOf are the rows of some databases.
func seedsOf(ctx context.Context, s *server, databases []string) ([]seedRow, error) {
	all, err := seedsOfServer(ctx, s)
	return slices.DeleteFunc(all, func(row seedRow) bool { return !slices.Contains(databases, row.database) }), err
}

// beginSeed notes that databases are going to be copied, before anything of them is there.
func beginSeed(ctx context.Context, s *server, source string, domain string, databases []string) error {
	if err := s.do(ctx, "record what is copied", "CREATE DATABASE IF NOT EXISTS plimsoll", makeSeeds); err != nil {
		return err
	}
	var statements []string
	has, err := s.value(ctx, "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'plimsoll' AND table_name = 'seed' AND column_name = 'own_at'")
	if err != nil {
		return err
	}
	if has == "0" {
		statements = append(statements, addOwnPlace)
	}
	for _, database := range databases {
		statements = append(statements, fmt.Sprintf("INSERT INTO plimsoll.seed (db, source, domain, state, gtids, log_file, log_at, row_count, at) VALUES (%s, %s, %s, %s, '', '', '', 0, NOW(6))",
			admin.Text(database), admin.Text(source), admin.Text(domain), admin.Text(copying)))
	}
	return s.do(ctx, "record what is copied", statements...)
}

// endSeed notes that they are whole, up to a position, and where the replica's own binary log ends: what is written to them later is found
// after that place.
func endSeed(ctx context.Context, s *server, databases []string, at position, rows int64) error {
	own, err := s.end(ctx)
	if err != nil {
		return err
	}
	return s.do(ctx, "record what was copied", fmt.Sprintf(
		"UPDATE plimsoll.seed SET state = %s, gtids = %s, log_file = %s, log_at = %s, row_count = %d, at = NOW(6), own_file = %s, own_at = %s WHERE db IN %s",
		admin.Text(done), admin.Text(at.gtids), admin.Text(at.place.File), admin.Text(at.place.At), rows, admin.Text(own.File), admin.Text(own.At), schemaList(databases)))
}

// clearSeed drops databases that were copied, wholly or in part, and forgets them.
func clearSeed(ctx context.Context, s *server, source string, databases []string) error {
	rows, err := seedsOf(ctx, s, databases)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.source != source {
			continue
		}
		if err := s.do(ctx, "drop a copy", "DROP DATABASE IF EXISTS "+admin.Name(row.database),
			"DELETE FROM plimsoll.seed WHERE db = "+admin.Text(row.database)); err != nil {
			return err
		}
	}
	return nil
}
