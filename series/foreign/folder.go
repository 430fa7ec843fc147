package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/document"
	"plimsoll/series"
)

// The files of an imported series, of the same form as those of a result folder.
const (
	aboutFile   = "import.json"
	seriesFile  = "series.csv"
	latencyFile = "latency.hlog"
)

// allOperations is how series.csv names the sum of a second's operations.
const allOperations = "all"

// Import reads a file and stores it in a folder that holds nothing yet. What it began it takes away when it fails.
func Import(ctx context.Context, dir string, read Reader, path string, o Options) (About, error) {
	out, err := newFolder(dir)
	if err != nil {
		return About{}, err
	}
	about, err := read(ctx, path, o, out.write)
	if err == nil {
		err = writeAbout(dir, about)
	}
	if err = errors.Join(err, out.close()); err != nil {
		out.discard()
	}
	return about, err
}

// folder is an imported series while it is written.
type folder struct {
	dir     string
	made    bool // the folder was not there before
	files   []*os.File
	rows    *series.RowWriter
	latency *series.LatencyLog
	times   *os.File
}

func newFolder(dir string) (*folder, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, &document.Problem{File: dir, Text: "the folder is not empty", Hint: "name another folder with --out"}
	}
	_, err := os.Stat(dir)
	f := &folder{dir: dir, made: errors.Is(err, fs.ErrNotExist)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make folder of the series: %w", err)
	}
	rows, err := f.create(seriesFile)
	if err == nil {
		f.times, err = f.create(latencyFile)
	}
	if err == nil {
		f.rows, err = series.NewRowWriter(rows)
	}
	if err != nil {
		err = errors.Join(err, f.close())
		f.discard()
		return nil, err
	}
	return f, nil
}

func (f *folder) create(name string) (*os.File, error) {
	file, err := os.Create(filepath.Join(f.dir, name))
	if err != nil {
		return nil, fmt.Errorf("store series: %w", err)
	}
	f.files = append(f.files, file)
	return file, nil
}

func (f *folder) close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

func (f *folder) discard() {
	for _, name := range []string{aboutFile, seriesFile, latencyFile} {
		_ = os.Remove(filepath.Join(f.dir, name))
	}
	if f.made {
		_ = os.Remove(f.dir)
	}
}

// write is the folder's sink.
func (f *folder) write(start time.Time, length time.Duration, operations []series.Interval) error {
	if f.latency == nil {
		var err error
		if f.latency, err = series.NewLatencyLog(f.times, start); err != nil {
			return err
		}
	}
	sum := series.Together(start, length, operations)
	sum.Operation = allOperations
	var rows []series.Row
	for _, i := range append(operations[:len(operations):len(operations)], sum) {
		row := i.Row()
		row.Round = 1
		rows = append(rows, row)
	}
	if err := f.rows.Write(rows...); err != nil {
		return err
	}
	for _, i := range operations {
		basis, times := Service, i.Service
		if i.Response.Count() > 0 {
			basis, times = Response, i.Response
		}
		if err := f.latency.Write(series.Tag("", "1", "", i.Operation, string(basis)), start, length, times); err != nil {
			return err
		}
	}
	return nil
}

func writeAbout(dir string, about About) error {
	data, err := json.MarshalIndent(about, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, aboutFile), append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("store series: %w", err)
	}
	return nil
}
