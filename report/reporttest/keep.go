package reporttest

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"plimsoll/result"
	"plimsoll/series"
)

// Keep writes a result as its folder, for tests of what opens one.
func Keep(dir string, r *result.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	write := func(name string, content func(io.Writer) error) error {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return content(f)
	}
	document := func(v any) func(io.Writer) error {
		return func(w io.Writer) error { return json.NewEncoder(w).Encode(v) }
	}
	for name, content := range map[string]func(io.Writer) error{
		result.SpecFile:        func(w io.Writer) error { _, err := io.WriteString(w, r.Source); return err },
		result.EnvironmentFile: document(r.Environment),
		result.VerdictFile:     document(r.Verdict),
		result.EventsFile: func(w io.Writer) error {
			events := series.NewEventWriter(w)
			for _, e := range r.Events {
				if err := events.Write(e); err != nil {
					return err
				}
			}
			return nil
		},
		"series.csv": func(w io.Writer) error {
			rows, err := series.NewRowWriter(w)
			for i := 0; err == nil && i < len(r.Seconds); i++ {
				err = rows.Write(r.Seconds[i])
			}
			return err
		},
		"signals.csv": func(w io.Writer) error {
			points, err := series.NewPointWriter(w)
			for i := 0; err == nil && i < len(r.Signals); i++ {
				err = points.Write(r.Signals[i])
			}
			return err
		},
	} {
		if err := write(name, content); err != nil {
			return err
		}
	}
	return nil
}
