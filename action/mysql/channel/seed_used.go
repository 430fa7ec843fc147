package channel

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

const (
	eventsAtOnce = 10_000
	// mostBinlog is how much of a replica's binary log is read to find out whether clients wrote to a copy: a minute or so of reading.
	mostBinlog = 1 << 30
)

// seedUnused refuses to drop databases that were copied whole and that clients of the replica have written to since: their writes would be
// lost. The replica's own binary log has them, under its own number; what channels apply keeps the number of who executed it first. Where
// that log does not tell, it refuses too.
func seedUnused(ctx context.Context, s *server, source string, databases []string) error {
	rows, err := seedsOf(ctx, s, databases)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row seedRow) bool { return row.source != source || row.state != done })
	for _, row := range rows {
		why, err := s.usedSince(ctx, row)
		if err != nil {
			return fmt.Errorf("look whether clients have written to %s: %w", row.database, err)
		}
		if why != "" {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("database %s of %s is not dropped: %s", row.database, s.name, why),
				Advice: fmt.Sprintf("save what is needed of it, execute DROP DATABASE %s on %s, then plimsoll runbook cancel RUN --undo; or keep it: plimsoll runbook cancel RUN --leave REASON",
					admin.Name(row.database), s.name),
			}
		}
	}
	return nil
}

// usedSince says why a copy may hold writes of clients; "" when it holds none, or is not there any more.
func (s *server) usedSince(ctx context.Context, row seedRow) (why string, err error) {
	there, err := s.value(ctx, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = "+admin.Text(row.database))
	if err != nil || there == "0" {
		return "", err
	}
	if row.own.File == "" {
		return "whether clients have written to it is not known, because the replica had no binary log when it was copied, or an older Plimsoll copied it", nil
	}
	logs, err := s.logs(ctx)
	if err != nil {
		return "", err
	}
	first := slices.IndexFunc(logs, func(log admin.Place) bool { return log.File == row.own.File })
	if first < 0 {
		return fmt.Sprintf("whether clients have written to it is not known, because the replica has purged its binary log %s", row.own.File), nil
	}
	var bytes int64
	for _, log := range logs[first:] {
		n, err := strconv.ParseInt(log.At, 10, 64)
		if err != nil {
			return "", fmt.Errorf("size of binary log %s: %w", log.File, err)
		}
		bytes += n
	}
	if bytes > mostBinlog {
		return fmt.Sprintf("whether clients have written to it is not known, because the replica has written %d MiB of binary logs since, which are too many to read", bytes>>20), nil
	}
	own, err := s.variable(ctx, "server_id")
	if err != nil {
		return "", err
	}
	for i, log := range logs[first:] {
		from := admin.Place{File: log.File, At: "4"} // after the header of the file
		if i == 0 {
			from.At = row.own.At
		}
		if why, err := s.writesIn(ctx, from, own, row.database); err != nil || why != "" {
			return why, err
		}
	}
	return "", nil
}

// writesIn looks through one binary log for what a server itself has written to a database.
func (s *server) writesIn(ctx context.Context, from admin.Place, serverID, database string) (why string, err error) {
	for {
		events, err := s.rows(ctx, admin.BinlogEvents(from, eventsAtOnce))
		if err != nil {
			return "", err
		}
		for _, e := range events {
			if e["server_id"] == serverID && eventWrites(e["event_type"], e["info"], database) {
				return fmt.Sprintf("clients have written to it since it was copied (binary log %s, position %s)", from.File, e["pos"]), nil
			}
		}
		if len(events) < eventsAtOnce {
			return "", nil
		}
		from.At = events[len(events)-1]["end_log_pos"]
	}
}

// eventWrites tells whether an event of a binary log may have changed a database. Rows are named by their table; of a statement it is enough
// that it names the database, as its own default one or in its text; what is compressed is not read, and may be anything.
func eventWrites(kind, info, database string) bool {
	switch kind {
	case "Table_map":
		_, table, _ := strings.Cut(info, "(")
		return strings.HasPrefix(strings.ToLower(table), strings.ToLower(database)+".")
	case "Query", "Query_compressed":
		return strings.Contains(strings.ToLower(info), strings.ToLower(database))
	case "Transaction_payload":
		return true
	}
	return false
}
