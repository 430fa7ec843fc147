package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"plimsoll/hint"
	"plimsoll/load"
	"plimsoll/series"
)

// The files of a result folder.
const (
	SpecFile        = "trial.yaml"
	EnvironmentFile = "environment.json"
	EventsFile      = "events.jsonl"
	seriesFile      = "series.csv"
	LatencyFile     = "latency.hlog"
	signalsFile     = "signals.csv"
	VerdictFile     = "verdict.json"
)

// Writer writes a result while the trial runs: what was measured is on disk a second later, whatever happens then.
// It is safe for concurrent use.
type Writer struct {
	dir   string
	files []*os.File

	turn    sync.Mutex
	events  *series.EventWriter
	rows    *series.RowWriter
	latency *series.LatencyLog
	points  *series.PointWriter
}

// Create makes the folder of a result. One that holds a result already is refused.
func Create(dir string, spec []byte, started time.Time) (*Writer, error) {
	if _, err := os.Stat(filepath.Join(dir, SpecFile)); err == nil {
		return nil, hint.With(fmt.Errorf("make result folder: %s holds a result already", dir), "name another folder with --out, or remove it")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make result folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, SpecFile), spec, 0o644); err != nil {
		return nil, fmt.Errorf("write the trial: %w", err)
	}
	w := &Writer{dir: dir}
	open := map[string]*os.File{}
	for _, name := range []string{EventsFile, seriesFile, LatencyFile, signalsFile} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make result folder: %w", err), w.Close())
		}
		open[name] = file
		w.files = append(w.files, file)
	}
	var errs [3]error
	w.events = series.NewEventWriter(open[EventsFile])
	w.rows, errs[0] = series.NewRowWriter(open[seriesFile])
	w.latency, errs[1] = series.NewLatencyLog(open[LatencyFile], started)
	w.points, errs[2] = series.NewPointWriter(open[signalsFile])
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Close closes the files; what was written stays.
func (w *Writer) Close() error {
	var errs []error
	for _, file := range w.files {
		errs = append(errs, file.Close())
	}
	w.files = nil
	return errors.Join(errs...)
}

// Event writes a line of events.jsonl.
func (w *Writer) Event(e series.Event) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	return w.events.Write(e)
}

// Signals writes lines of signals.csv.
func (w *Writer) Signals(points []series.Point) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	return w.points.Write(points...)
}

// ReadSignals returns the readings that were written.
func (w *Writer) ReadSignals() ([]series.Point, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	f, err := os.Open(filepath.Join(w.dir, signalsFile))
	if err != nil {
		return nil, fmt.Errorf("read the signals: %w", err)
	}
	points, err := collect(series.ReadPoints(f))
	return points, errors.Join(err, f.Close())
}

// AllOperations is how series.csv names the sum of a second's operations.
const AllOperations = "all"

// Second writes a second of load and returns the row of all operations together.
func (w *Writer) Second(cell string, round int, phase string, s load.Second) (series.Row, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	sum := series.Together(s.Start, s.Length, s.Operations)
	sum.Operation = AllOperations
	var rows []series.Row
	for _, i := range append(s.Operations[:len(s.Operations):len(s.Operations)], sum) {
		row := i.Row()
		row.Cell, row.Round, row.Phase = cell, round, phase
		rows = append(rows, row)
	}
	all := rows[len(rows)-1]
	if err := w.rows.Write(rows...); err != nil {
		return all, err
	}
	for _, i := range s.Operations {
		if err := w.times(i, Response, i.Response, cell, round, phase); err != nil {
			return all, err
		}
		if i.Wait.Max() == 0 {
			continue // both times are the same: a closed loop
		}
		if err := w.times(i, Service, i.Service, cell, round, phase); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (w *Writer) times(i series.Interval, of Basis, times series.Snapshot, cell string, round int, phase string) error {
	return w.latency.Write(series.Tag(cell, strconv.Itoa(round), phase, i.Operation, string(of)), i.Start, i.Length, times)
}

// Document writes one of the JSON files, whole or not at all.
func (w *Writer) Document(name string, v any) error {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // expectations are full of < and >
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path+".new", data.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(path+".new", path)
}
