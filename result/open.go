package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"plimsoll/hint"
	"plimsoll/series"
)

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
	source, err := os.ReadFile(filepath.Join(dir, SpecFile))
	if err == nil && !Is(dir) {
		err = errors.New("it has no " + EventsFile)
	}
	if err != nil {
		return nil, hint.With(fmt.Errorf("%s is no result folder: %w", dir, err), "plimsoll trial list shows the results")
	}
	r.Source = string(source)
	if err := readJSON(dir, EnvironmentFile, &r.Environment); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	switch err := readJSON(dir, VerdictFile, &r.Verdict); {
	case errors.Is(err, fs.ErrNotExist):
		r.Verdict.Partial = true
	case err != nil:
		return nil, err
	}
	r.Verdict.MarkNotJudged() // also in what an earlier release wrote
	return r, nil
}

// Is tells whether a folder is a result, or what plimsoll watch export wrote. The folder of a trial itself has its trial.yaml alone.
func Is(dir string) bool {
	for _, name := range []string{EventsFile, SpecFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func (r *Result) readSeries() error {
	for name, read := range map[string]func(*os.File) error{
		EventsFile:  func(f *os.File) (err error) { r.Events, err = collect(series.ReadEvents(f)); return },
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
