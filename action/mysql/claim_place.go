package mysql

import (
	"context"
	"strings"
	"unicode/utf8"
)

// A claim says behind its holder on which server it was written, so that the copy of it on a replica that has lost its source, where nobody
// prolongs or removes it, is known for a copy. It is in the column of the holder since older releases, which would leave another as it is,
// write that one.
const (
	placeBegins = " [server_id "
	placeEnds   = "]"
	mostHolder  = 200 // characters that the column has
)

// copied is the column isCopy of readClaimAndPlace for a claim that was written on another server.
const copied = "1"

const readClaimAndPlace = `SELECT run, holder, epoch, TIMESTAMPDIFF(MICROSECOND, since, UTC_TIMESTAMP(6)), TIMESTAMPDIFF(MICROSECOND, expires, UTC_TIMESTAMP(6)),
	@@GLOBAL.read_only, RIGHT(holder, 1) = '` + placeEnds + `' AND LOCATE('` + placeBegins + `', holder) > 0
	AND RIGHT(holder, LENGTH(CONCAT('` + placeBegins + `', @@GLOBAL.server_id, '` + placeEnds + `'))) <> CONCAT('` + placeBegins + `', @@GLOBAL.server_id, '` + placeEnds + `'),
	CAST(UTC_TIMESTAMP(6) AS CHAR), CAST(expires AS CHAR), @@GLOBAL.server_id FROM plimsoll.claim WHERE id = 1`

// signed is a holder with the server on which it is written. That stands in the text as it is: what the server made of a name for it would be
// made anew by each replica that executes statements.
func (m *ClusterLock) signed(ctx context.Context, holder, node string) (string, error) {
	number := m.numbers[node]
	if number == "" {
		var err error
		if number, err = m.cluster.Value(ctx, node, "SELECT @@GLOBAL.server_id"); err != nil {
			return "", err
		}
		m.numbers[node] = number
	}
	place := placeBegins + number + placeEnds
	if utf8.RuneCountInString(holder)+len(place) > mostHolder {
		return holder, nil // it counts wherever it is found
	}
	return holder + place, nil
}

// unsigned is the holder alone.
func unsigned(holder string) string {
	if at := strings.LastIndex(holder, placeBegins); at >= 0 && strings.HasSuffix(holder, placeEnds) {
		return holder[:at]
	}
	return holder
}
