package run

import (
	"fmt"
	"testing"
	"time"

	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

// The servers of a ring start, and are worked on by runbooks, one after another.
func TestARingIsExpectedToTakeLonger(t *testing.T) {
	parts := spectest.Parts()
	parts.Books = []string{"ring/grow"}
	parts.Runbook = func(*document.Node) (*runbook.Runbook, error) { return &runbook.Runbook{Name: "ring/grow"}, nil }
	const text = `trial: t
cluster: {engine: %s, nodes: 3}
load: {workload: oltp, rate: 100}
timeline:
  - baseline: 20s
  - run: ring/grow
  - recovery: 30s
phases: {warmup: 20s, restore: %s, rounds: 1}
`
	for _, c := range []struct {
		engine, restore string
		want            time.Duration
	}{
		{"mariadb", "never", 20*time.Second + 71*time.Second + 3*time.Second},
		{"mysql", "never", 60*time.Second + 71*time.Second + 60*time.Second}, // on paper it is a ring
		{"mysql", "each", 60*time.Second + 70*time.Second + 60*time.Second + 24*time.Second},
	} {
		got, err := spec.Parse("trial.yaml", fmt.Appendf(nil, text, c.engine, c.restore), spec.Options{}, parts)
		if err != nil {
			t.Fatal(err)
		}
		if left := Outline(got).Left; left != c.want {
			t.Errorf("%s, restored %s: about %v, want %v", c.engine, c.restore, left, c.want)
		}
	}
}
