package channel

import (
	"context"
	"regexp"

	"plimsoll/action"
	"plimsoll/engine/mysql/admin"
)

// What servers say when crash recovery has found the place in the binary log up to which the data goes.
var recoveredAt = []*regexp.Regexp{
	regexp.MustCompile(`Last binlog file '(?:\./)?(?P<file>[^']+)', position (?P<at>\d+)`),                 // MariaDB
	regexp.MustCompile(`Last MySQL binlog file position \d+ (?P<at>\d+), file name (?:\./)?(?P<file>\S+)`), // MySQL 5.7
	regexp.MustCompile(`Binlog position from crash recovery is (?P<file>\S+) (?P<at>\d+)`),                 // Aurora
}

// recoveredPlace finds that place in what a server said; zero if it did not say. Where the server then recovers its own
// binary log as well, prepared transactions that stand in the log are committed, and the data goes on to the log's end.
func recoveredPlace(said string) admin.Place {
	for _, pattern := range recoveredAt {
		if m := pattern.FindStringSubmatch(said); m != nil {
			return admin.Place{File: m[pattern.SubexpIndex("file")], At: m[pattern.SubexpIndex("at")]}
		}
	}
	return admin.Place{}
}

// recovery is up to where the data of a server that recovered from a crash goes.
type recovery struct {
	position string      // GTIDs, after the recovery of the binary log that came with the data
	place    admin.Place // as the storage engine found it
}

// cameWithCopy is where the binary log ends that came with the data of a server which was started on them just now; zero if none
// did. Its recovery brings the data up to there, past the storage engine's place.
func cameWithCopy(ctx context.Context, s *server) (admin.Place, error) {
	if on, err := s.variable(ctx, "log_bin"); on != "ON" {
		return admin.Place{}, err
	}
	all, err := s.logs(ctx)
	if len(all) < 2 || err != nil { // it began the last one itself
		return admin.Place{}, err
	}
	return all[len(all)-2], nil
}

func recoveryOf(ctx context.Context, s *server) (recovery, error) {
	position, err := s.value(ctx, s.Position())
	if err != nil {
		return recovery{}, err
	}
	said, err := s.on.Said(ctx, s.node)
	return recovery{position, recoveredPlace(said)}, err
}

func (r recovery) facts() action.Facts {
	f := action.Facts{"position": r.position}
	if r.place != (admin.Place{}) {
		f["engine_place"] = r.place.String()
	}
	return f
}

// later is the place in a binary log up to which a copy has everything: where its log ends, or where its storage engine stands, if that is
// further on.
func later(log, engine admin.Place) admin.Place {
	if engine != (admin.Place{}) && !log.Reached(engine) {
		return engine
	}
	return log
}
