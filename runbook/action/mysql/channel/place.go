package channel

import (
	"context"
	"strconv"
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
	if _, is := s.dialect.(mysql); is && !versionOf(s.facts.Version).less(version{8, 2, 0}) {
		query = "SHOW BINARY LOG STATUS"
	}
	rows, err := s.rows(ctx, query)
	if err != nil || len(rows) == 0 {
		return place{}, err
	}
	return place{rows[0]["file"], rows[0]["position"]}, nil
}
