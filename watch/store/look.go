package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"

	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
)

// Kept is what a folder of series held when it was looked at. Another process may go on writing it.
type Kept struct {
	reader
	db      *tsdb.DBReadOnly
	sandbox string
}

// Look reads a folder of series, which stays as it is.
func Look(folder string) (*Kept, error) {
	if _, err := os.Stat(filepath.Join(folder, "wal")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the series in %s: there are none", folder)
	}
	sandbox, err := os.MkdirTemp("", "plimsoll-series-*")
	if err != nil {
		return nil, fmt.Errorf("read the series: %w", err)
	}
	log := slog.New(slog.DiscardHandler)
	db, err := tsdb.OpenDBReadOnly(folder, sandbox, log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the series in %s: %w", folder, err), os.RemoveAll(sandbox))
	}
	// Every querier reads the whole log anew: one serves all questions.
	all, err := db.Querier(math.MinInt64, math.MaxInt64)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the series in %s: %w", folder, err), db.Close(), os.RemoveAll(sandbox))
	}
	one := storage.QueryableFunc(func(from, to int64) (storage.Querier, error) { return &shared{all, from, to}, nil })
	return &Kept{reader: newReader(one, log), db: db, sandbox: sandbox}, nil
}

// Close ends the look.
func (k *Kept) Close() error {
	if err := errors.Join(k.engine.Close(), k.db.Close(), os.RemoveAll(k.sandbox)); err != nil {
		return fmt.Errorf("close the series: %w", err)
	}
	return nil
}
