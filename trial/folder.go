package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"plimsoll/infra"
	"plimsoll/load"
	"plimsoll/series"
)

// The files of a result folder.
const (
	specFile        = "trial.yaml"
	environmentFile = "environment.json"
	eventsFile      = "events.jsonl"
	seriesFile      = "series.csv"
	latencyFile     = "latency.hlog"
	signalsFile     = "signals.csv"
	verdictFile     = "verdict.json"
)

// folder writes a result while the trial runs: what was measured is on disk a second later, whatever happens then.
// It is safe for concurrent use.
type folder struct {
	dir   string
	files []*os.File

	turn    sync.Mutex
	events  *series.EventWriter
	rows    *series.RowWriter
	latency *series.LatencyLog
	points  *series.PointWriter
}

// newFolder makes the folder of a result. One that holds a result already is refused.
func newFolder(dir string, spec []byte, started time.Time) (*folder, error) {
	if _, err := os.Stat(filepath.Join(dir, specFile)); err == nil {
		return nil, infra.Advise(fmt.Errorf("make result folder: %s holds a result already", dir), "name another folder with --out, or remove it")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make result folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, specFile), spec, 0o644); err != nil {
		return nil, fmt.Errorf("write the trial: %w", err)
	}
	f := &folder{dir: dir}
	open := map[string]*os.File{}
	for _, name := range []string{eventsFile, seriesFile, latencyFile, signalsFile} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make result folder: %w", err), f.close())
		}
		open[name] = file
		f.files = append(f.files, file)
	}
	var errs [3]error
	f.events = series.NewEventWriter(open[eventsFile])
	f.rows, errs[0] = series.NewRowWriter(open[seriesFile])
	f.latency, errs[1] = series.NewLatencyLog(open[latencyFile], started)
	f.points, errs[2] = series.NewPointWriter(open[signalsFile])
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *folder) close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	f.files = nil
	return errors.Join(errs...)
}

// discard removes a result in which there is nothing.
func (f *folder) discard() error {
	errs := []error{f.close()}
	for _, name := range []string{specFile, eventsFile, seriesFile, latencyFile, signalsFile} {
		errs = append(errs, os.Remove(filepath.Join(f.dir, name)))
	}
	_ = os.Remove(f.dir) // it may hold what was there before
	return errors.Join(errs...)
}

func (f *folder) event(e series.Event) error {
	f.turn.Lock()
	defer f.turn.Unlock()
	return f.events.Write(e)
}

func (f *folder) signals(points []series.Point) error {
	f.turn.Lock()
	defer f.turn.Unlock()
	return f.points.Write(points...)
}

// allOperations is how series.csv names the sum of a second's operations.
const allOperations = "all"

// second writes a second of load and returns the row of all operations together.
func (f *folder) second(cell string, round int, phase string, s load.Second) (series.Row, error) {
	f.turn.Lock()
	defer f.turn.Unlock()
	sum := series.Together(s.Start, s.Length, s.Operations)
	sum.Operation = allOperations
	var rows []series.Row
	for _, i := range append(s.Operations[:len(s.Operations):len(s.Operations)], sum) {
		row := i.Row()
		row.Cell, row.Round, row.Phase = cell, round, phase
		rows = append(rows, row)
	}
	all := rows[len(rows)-1]
	if err := f.rows.Write(rows...); err != nil {
		return all, err
	}
	for _, i := range s.Operations {
		if err := f.times(i, response, i.Response, cell, round, phase); err != nil {
			return all, err
		}
		if i.Wait.Max() == 0 {
			continue // both times are the same: a closed loop
		}
		if err := f.times(i, service, i.Service, cell, round, phase); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (f *folder) times(i series.Interval, of basis, times series.Snapshot, cell string, round int, phase string) error {
	return f.latency.Write(series.Tag(cell, strconv.Itoa(round), phase, i.Operation, string(of)), i.Start, i.Length, times)
}

// document writes one of the JSON files, whole or not at all.
func (f *folder) document(name string, v any) error {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // expectations are full of < and >
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path+".new", data.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(path+".new", path)
}

// Open reads a result folder. One without a verdict is that of a trial that was cut off: it reads as Partial.
func Open(dir string) (*Result, error) {
	r, err := OpenHead(dir)
	if err != nil {
		return nil, err
	}
	return r, r.readSeries()
}

// OpenHead is Open without what was measured every second.
func OpenHead(dir string) (*Result, error) {
	r := &Result{Dir: dir}
	source, err := os.ReadFile(filepath.Join(dir, specFile))
	if err != nil {
		return nil, infra.Advise(fmt.Errorf("open result: %s is no result folder: %w", dir, err), "plimsoll trial list")
	}
	r.Source = string(source)
	if err := readJSON(dir, environmentFile, &r.Environment); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	switch err := readJSON(dir, verdictFile, &r.Verdict); {
	case errors.Is(err, fs.ErrNotExist):
		r.Verdict.Partial = true
	case err != nil:
		return nil, err
	}
	return r, nil
}

func (r *Result) readSeries() error {
	for name, read := range map[string]func(*os.File) error{
		eventsFile:  func(f *os.File) (err error) { r.Events, err = collect(series.ReadEvents(f)); return },
		seriesFile:  func(f *os.File) (err error) { r.Seconds, err = collect(series.ReadRows(f)); return },
		signalsFile: func(f *os.File) (err error) { r.Signals, err = collect(series.ReadPoints(f)); return },
	} {
		f, err := os.Open(filepath.Join(r.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("open result: %w", err)
		}
		err = errors.Join(read(f), f.Close())
		if err != nil {
			return fmt.Errorf("open result: %w", err)
		}
	}
	return nil
}

func collect[T any](all func(yield func(T, error) bool)) ([]T, error) {
	var out []T
	for item, err := range all {
		if err != nil {
			return out, err
		}
		out = append(out, item)
	}
	return out, nil
}

func readJSON(dir, name string, into any) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("open result: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("open result: read %s: %w", name, err)
	}
	return nil
}
