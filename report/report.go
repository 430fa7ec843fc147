// Package report renders a trial's result: a page to mail, Markdown for a pull request, text for a terminal, and the
// live screen of a trial that runs.
package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"plimsoll/result"
	"plimsoll/series/foreign"
)

//go:generate go test -run TestVerdictSchema|TestGolden|TestLines|TestVersus -update .

// Write puts report.html and report.md into a result's folder, with what other tools measured laid beside it. An older
// report is replaced only by a whole new one.
func Write(dir string, r *result.Result, beside ...foreign.Recording) error {
	for name, render := range map[string]func(io.Writer, *result.Result, ...foreign.Recording) error{"report.html": HTML, "report.md": Markdown} {
		var b bytes.Buffer
		if err := render(&b, r, beside...); err != nil {
			return err
		}
		if err := replace(filepath.Join(dir, name), b.Bytes()); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
