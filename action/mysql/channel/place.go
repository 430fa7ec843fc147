package channel

import (
	"context"
	"fmt"
	"strconv"

	"plimsoll/hint"
)

// place is a place in a source's binary log.
type place struct {
	File string
	At   string // bytes
}

func (p place) String() string {
	if p == (place{}) {
		return ""
	}
	return p.File + ":" + p.At
}

// reached tells whether p is at end or after it. The files of a log are numbered, with leading zeros.
func (p place) reached(end place) bool {
	if p.File != end.File {
		return len(p.File) > len(end.File) || len(p.File) == len(end.File) && p.File > end.File
	}
	at, err1 := strconv.ParseUint(p.At, 10, 64)
	wanted, err2 := strconv.ParseUint(end.At, 10, 64)
	return err1 == nil && err2 == nil && at >= wanted
}

// end is where a server's binary log ends now.
func (s *server) end(ctx context.Context) (place, error) {
	query := "SHOW MASTER STATUS"
	if _, is := s.dialect.(mariadb); !is && !versionOf(s.facts.Version).less(version{8, 2, 0}) {
		query = "SHOW BINARY LOG STATUS"
	}
	rows, err := s.rows(ctx, query)
	if err != nil || len(rows) == 0 {
		return place{}, err
	}
	return place{rows[0]["file"], rows[0]["position"]}, nil
}

// logs are the binary logs that a server has, each with where it ends, the oldest first.
func (s *server) logs(ctx context.Context) ([]place, error) {
	rows, err := s.rows(ctx, "SHOW BINARY LOGS")
	all := make([]place, len(rows))
	for i, row := range rows {
		all[i] = place{row["log_name"], row["file_size"]}
	}
	return all, err
}

// holds refuses a place from which a server cannot send its binary log.
func (s *server) holds(ctx context.Context, p place) error {
	all, err := s.logs(ctx)
	if err != nil {
		return err
	}
	for _, log := range all {
		switch {
		case log.File != p.File:
		case !log.reached(p):
			return &hint.PermanentError{Reason: fmt.Sprintf("binary log %s of %s ends at %s, before %s", p.File, s.name, log.At, p.At), Advice: "find out what uses this folder"}
		default:
			return nil
		}
	}
	if len(all) > 0 && (place{File: all[0].File, At: "0"}).reached(place{File: p.File, At: "0"}) {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s has purged binary log %s, from which the replica would go on: the oldest that it has is %s", s.name, p.File, all[0].File),
			Advice: "begin again with a newer copy, and mysql.keep-binlogs before it",
		}
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s has no binary log %s", s.name, p.File), Advice: "find out what uses this folder"}
}
