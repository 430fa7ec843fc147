package superdisk

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/infra"
	"plimsoll/superdisk/superdisktest"
)

// stepped is a machine whose array has both legs in step.
type stepped struct {
	infra.Machine
	says    []byte
	removed []string
}

func (*stepped) Name() string { return "one" }

func (m *stepped) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	return superdisktest.Snapshot(string(m.says)), nil
}

func (*stepped) Run(context.Context, infra.Command) (infra.Output, error) { return infra.Output{}, nil }

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

// While the meter is slow, what was copied is still told of one second: the rate that the governor halves.
func TestASlowMeterDoesNotSwellWhatWasCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		g := &Governor{Bound: time.Second, Floor: 1, Ceiling: 1 << 30}
		var moved []int64
		r := Rebuild{Governor: g, Meter: func(context.Context) (time.Duration, error) {
			moved = append(moved, g.moving)
			time.Sleep(time.Duration(len(moved)) * 999 * time.Millisecond)
			return time.Millisecond, nil
		}}
		ctx, end := context.WithCancel(t.Context())
		wait := r.govern(ctx, func() int64 { return int64(100_000 * time.Since(begun).Seconds()) }, func(int64) error { return nil })
		time.Sleep(20 * time.Second)
		end()
		wait()
		if len(moved) < 5 || slices.Min(moved) < 99_900 || slices.Max(moved) > 100_100 {
			t.Errorf("of 100000 bytes a second the governor was told %d", moved)
		}
	})
}

// left is a machine whose network leg serves alone, and whose local leg left before the bitmap was made.
type left struct {
	infra.Machine
	t *testing.T
}

func (left) Name() string { return "one" }

func (m left) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	return superdisktest.Snapshot(string(blob(m.t, "network-alone.txt"))), nil
}

func (m left) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	line := strings.Join(append([]string{c.Path}, c.Args...), " ")
	super, bitmap := slices.Clone(blob(m.t, "stale.superblock")), blob(m.t, "alone.bitmap")
	if strings.Contains(line, "/dev/ubdb") {
		super = blob(m.t, "alone.superblock")
	} else {
		binary.LittleEndian.PutUint64(super[200:], 1) // events
		s := Superblock{raw: [SuperblockSize]byte(super)}
		binary.LittleEndian.PutUint32(super[216:], s.checksum())
	}
	switch {
	case c.Path == "stat":
		return infra.Output{Stdout: []byte("4096 10 5")}, nil
	case c.Path != "dd":
		return infra.Output{Stdout: []byte("size 2097152\ntype linux_raid_member\n")}, nil
	case strings.Contains(line, "skip=1 "):
		return infra.Output{Stdout: super}, nil
	}
	return infra.Output{Stdout: append(slices.Clone(bitmap), make([]byte, 8192)...)}, nil
}

// A leg that would be re-added, had the array not been started without it, is copied to as a whole, and the plan says why.
func TestWhyALegThatLeftIsNotReAdded(t *testing.T) {
	c, err := Rebuild{Machine: left{t: t}, Array: "sd", Target: "/dev/ubda", Role: Local}.Choose(t.Context())
	if want := "the bitmap was made after it left, and does not know what it lacks: the array was started without it; the helper cannot run there: md copies the whole device, 507 MiB"; err != nil || c.Method != Whole || c.Why != want {
		t.Errorf("%s: %q, %v", c.Method, c.Why, err)
	}
}
