package catalog

import (
	"testing"

	"plimsoll/internal/document"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

func useOf(t *testing.T, name, with string) (spec.Use, error) {
	t.Helper()
	at := &document.Node{Kind: document.Scalar, File: "trial.yaml", Line: 1, Column: 1}
	call := spec.Call{Change: name, At: at}
	if with != "" {
		node, err := document.Parse("trial.yaml", []byte(with))
		if err != nil {
			t.Fatal(err)
		}
		call.With = node
	}
	for _, f := range Faults() {
		if f.Name == name {
			return f.Use(call)
		}
	}
	t.Fatalf("there is no fault %s", name)
	return spec.Use{}, nil
}

// A restart that keeps the server away for a while has not brought it back when the server has stopped.
func TestARestartThatLastsIsNotDoneAtOnce(t *testing.T) {
	for with, done := range map[string]series.EventKind{"": series.NodeServes, "for: 5s": ""} {
		u, err := useOf(t, "lab/restart", with)
		if err != nil || u.Done != done || u.Fault.Over != series.NodeServes {
			t.Errorf("%q: done is told as %q, over as %q, %v", with, u.Done, u.Fault.Over, err)
		}
	}
}

func TestAFaultOfANodeWithoutANameIsRefused(t *testing.T) {
	if u, err := useOf(t, "lab/freeze", `node: ""`); err == nil {
		t.Errorf("it is for node %q", u.Node)
	}
}
