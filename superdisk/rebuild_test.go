package superdisk

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/infra"
)

// stepped is a machine whose array has both legs in step.
type stepped struct {
	infra.Machine
	says    []byte
	removed []string
}

func (*stepped) Name() string { return "one" }

func (m *stepped) Run(context.Context, infra.Command) (infra.Output, error) {
	return infra.Output{Stdout: m.says}, nil
}

func (m *stepped) Remove(_ context.Context, path string) error {
	m.removed = append(m.removed, path)
	return nil
}

// A seeding that was cut off leaves a file; when the leg came into step in another way, the next status must not speak of it.
func TestALegInStepLeavesNoSeedingBehind(t *testing.T) {
	says, err := os.ReadFile(filepath.Join("testdata", "whole.txt"))
	if err != nil {
		t.Fatal(err)
	}
	a := recorded(t, "whole").Arrays[0]
	leg, _ := a.Leg(Local)
	m := &stepped{says: says}
	if _, err := (Rebuild{Machine: m, Array: "sd", Target: leg.Device, Role: Local}).Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.removed, progressFile(a.UUID)) {
		t.Errorf("removed %q", m.removed)
	}
}
