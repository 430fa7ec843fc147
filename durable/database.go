package durable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // registers the pure Go driver
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// database is our side of the store: the same file or server that the library keeps its tables in.
type database struct {
	*sql.DB
	pool    *pgxpool.Pool // nil on SQLite
	options Options
}

// fileName is the SQLite file within the state folder.
const fileName = "runs.db"

func openDatabase(ctx context.Context, o Options) (*database, error) {
	if o.Postgres != "" {
		pool, err := pgxpool.New(ctx, o.Postgres)
		if err != nil {
			return nil, fmt.Errorf("open the store: %w", err)
		}
		d := &database{DB: stdlib.OpenDBFromPool(pool), pool: pool, options: o}
		if err := d.PingContext(ctx); err != nil {
			d.close()
			return nil, fmt.Errorf("open the store: %w", err)
		}
		return d, nil
	}
	// An absolute path: a relative one would be taken for the host of the file: URL.
	path, err := filepath.Abs(filepath.Join(o.Folder, fileName))
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	readable, err := os.Open(o.Folder) // SQLite does not say that it may not
	if err != nil {
		return nil, fmt.Errorf("open the state folder: %w", err)
	}
	if err := readable.Close(); err != nil {
		return nil, fmt.Errorf("open the state folder: %w", err)
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "foreign_keys(1)", "journal_mode(WAL)", "synchronous(FULL)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	db.SetMaxOpenConns(4)
	if err := db.PingContext(ctx); err != nil {
		return nil, fmt.Errorf("open the store %s: %w", path, err)
	}
	return &database{DB: db, options: o}, nil
}

func (d *database) close() {
	_ = d.Close() // nothing is buffered: every write was committed
	if d.pool != nil {
		d.pool.Close()
	}
}

// schema is the library's schema on Postgres; on SQLite tables stand side by side.
const schema = "plimsoll"

// statement writes {name} as the full name of a table and, on Postgres, ? as $1, $2, …
func (d *database) statement(text string) string {
	prefix := "plimsoll_"
	if d.pool != nil {
		prefix = schema + ".plimsoll_"
	}
	text = strings.NewReplacer("{", prefix, "}", "").Replace(text)
	if d.pool == nil {
		return text
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (d *database) exec(ctx context.Context, text string, args ...any) (int64, error) {
	var result sql.Result
	err := d.again(ctx, func() (err error) {
		result, err = d.ExecContext(ctx, d.statement(text), args...)
		return err
	})
	if err != nil {
		return 0, d.options.plainly(err)
	}
	return result.RowsAffected()
}

func (d *database) row(ctx context.Context, text string, args ...any) scanner {
	return asked{d, ctx, text, args}
}

// each calls f for every row; f scans it.
func (d *database) each(ctx context.Context, f func(*sql.Rows) error, text string, args ...any) error {
	rows, err := d.rowsOf(ctx, text, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := f(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
