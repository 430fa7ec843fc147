package durable

import (
	"errors"
	"io/fs"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/hint"
)

// plainly takes the runtime's own words off an error, and says what to do where a person can do something.
func (o Options) plainly(err error) error {
	var wrapped *dbos.Error
	for errors.As(err, &wrapped) && wrapped.Unwrap() != nil {
		err = wrapped.Unwrap()
	}
	switch {
	case errors.Is(err, fs.ErrPermission) && o.Postgres == "":
		return hint.With(err, "the state folder belongs to another account, and no other can read it: use the web page of that account (plimsoll serve --web-config FILE), "+
			"keep runs in a Postgres that both accounts use (state: {postgres: …} in plimsoll.yaml), or set PLIMSOLL_HOME to a folder of your own")
	case !full(err):
		return err
	case o.Postgres != "":
		return hint.With(err, "make room where the Postgres of the runs keeps its data")
	}
	return hint.With(err, "make room on the disk of "+o.Folder)
}

// full tells whether a store has no room: SQLITE_FULL and SQLITE_IOERR_SHMSIZE of https://www.sqlite.org/rescode.html, or class 53 of
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func full(err error) bool {
	var sqlite interface{ Code() int }
	if errors.As(err, &sqlite) {
		// An extended code holds the primary one in its last byte. SQLITE_IOERR_SHMSIZE: there is no room for the memory that processes share.
		const sqliteFull, primary, sqliteShared = 13, 0xff, 4874
		return sqlite.Code()&primary == sqliteFull || sqlite.Code() == sqliteShared
	}
	var postgres *pgconn.PgError
	return errors.As(err, &postgres) && postgres.Code == "53100"
}
