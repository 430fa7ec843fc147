package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"plimsoll/advise/price"
	"plimsoll/catalog"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook"
	"plimsoll/trial/spec"
	"plimsoll/watch/rules"
	"plimsoll/watch/settings"
	"plimsoll/web/access"
	"plimsoll/workload/custom"
)

// TestEveryReaderOfFilesHasBounds gives each reader of what people write what would take its memory or its time.
func TestEveryReaderOfFilesHasBounds(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file.yaml")
	parts := catalog.Parts()
	readers := map[string]func(text []byte) error{
		"trial":          func(text []byte) error { _, err := spec.Parse(name, text, spec.Options{}, parts); return err },
		"runbook":        func(text []byte) error { _, err := runbook.Parse(name, text, catalog.Actions()); return err },
		"inventory":      func(text []byte) error { _, err := inventory.Parse(name, text); return err },
		"watch":          func(text []byte) error { _, err := settings.Parse(name, text); return err },
		"workload":       func(text []byte) error { _, err := custom.Parse(name, text, time.Now); return err },
		"web":            func([]byte) error { _, err := access.ReadConfig(name); return err },
		"rules":          func([]byte) error { _, err := rules.Read(name); return err },
		"tests of rules": func([]byte) error { _, _, err := rules.Test(t.Context(), name); return err },
		"prices":         func([]byte) error { _, err := price.Load(name); return err },
	}
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for n := range 9 {
		laughs += "a" + string(rune('1'+n)) + ": &a" + string(rune('1'+n)) + " [" + strings.TrimSuffix(strings.Repeat("*a"+string(rune('0'+n))+", ", 10), ", ") + "]\n"
	}
	for what, text := range map[string]string{
		"deep brackets": "a: " + strings.Repeat("[", 100_000),
		"deep dashes":   strings.Repeat("- ", 50_000) + "x",
		"a large file":  "a: " + strings.Repeat("x", document.MaxSize),
		"a long text":   "a: " + strings.Repeat("x", document.MaxText+1),
		"aliases":       laughs,
		"a NUL":         "a: b\x00\n",
		"invalid UTF-8": "a: \xff\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for reader, read := range readers {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read([]byte(text))
			runtime.ReadMemStats(&after)
			switch {
			case err == nil:
				t.Errorf("%s takes %s", reader, what)
			case !strings.Contains(err.Error(), "file.yaml") || len(err.Error()) > 2000:
				t.Errorf("%s refuses %s without its place, or at length: %.200v", reader, what, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 400<<20 {
				t.Errorf("%s takes %d MiB for %s", reader, took>>20, what)
			}
		}
	}
}
