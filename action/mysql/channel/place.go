package channel

import (
	"context"
	"fmt"

	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// end is where a server's binary log ends now.
func (s *server) end(ctx context.Context) (admin.Place, error) {
	rows, err := s.rows(ctx, s.BinlogEnd())
	if err != nil || len(rows) == 0 {
		return admin.Place{}, err
	}
	return admin.Place{File: rows[0]["file"], At: rows[0]["position"]}, nil
}

// logs are the binary logs that a server has, each with where it ends, the oldest first.
func (s *server) logs(ctx context.Context) ([]admin.Place, error) {
	rows, err := s.rows(ctx, admin.BinaryLogs)
	all := make([]admin.Place, len(rows))
	for i, row := range rows {
		all[i] = admin.Place{File: row["log_name"], At: row["file_size"]}
	}
	return all, err
}

// holds refuses a place from which a server cannot send its binary log.
func (s *server) holds(ctx context.Context, p admin.Place) error {
	all, err := s.logs(ctx)
	if err != nil {
		return err
	}
	for _, log := range all {
		switch {
		case log.File != p.File:
		case !log.Reached(p):
			return &hint.PermanentError{Reason: fmt.Sprintf("binary log %s of %s ends at %s, before %s", p.File, s.name, log.At, p.At), Advice: "check that the copy is one of this server, and that its binary logs have not been reset since (RESET MASTER); then start again with a newer copy"}
		default:
			return nil
		}
	}
	if len(all) > 0 && (admin.Place{File: all[0].File, At: "0"}).Reached(admin.Place{File: p.File, At: "0"}) {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s has purged binary log %s, where the replica would continue: the oldest that it has is %s", s.name, p.File, all[0].File),
			Advice: "start again with a newer copy, with mysql.keep-binlogs before it",
		}
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s has no binary log %s", s.name, p.File), Advice: "check that the copy is one of this server, and that its binary logs have not been reset since (RESET MASTER); then start again with a newer copy"}
}
