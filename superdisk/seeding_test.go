package superdisk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll/infra"
	"plimsoll/superdisk/superdisktest"
)

// filled is a machine with a disk that has just been filled. Its re-add is cut off.
type filled struct {
	infra.Machine
	t    *testing.T
	p    seedProgress
	end  context.CancelFunc
	done []string

	forgot bool // how far the copy was, before the re-add
}

func (f *filled) Name() string { return "one" }

func (f *filled) Snapshot(ctx context.Context, _ ...string) (infra.Snapshot, error) {
	return superdisktest.Snapshot(string(blob(f.t, "network-alone.txt"))), ctx.Err()
}

func (f *filled) Run(ctx context.Context, c infra.Command) (infra.Output, error) {
	line := strings.Join(append([]string{c.Path}, c.Args...), " ")
	switch {
	case ctx.Err() != nil:
		return infra.Output{}, ctx.Err()
	case strings.HasPrefix(line, "dd if=/dev/new"):
		return infra.Output{Stdout: f.p.mark()}, nil
	case strings.HasPrefix(line, "dd if="):
		return infra.Output{Stdout: blob(f.t, "alone.bitmap")}, nil
	case strings.Contains(line, "--re-add"):
		f.forgot = slices.Contains(f.done, "remove "+progressFile(f.p.Array))
		f.end()
		return infra.Output{}, ctx.Err()
	}
	f.done = append(f.done, line)
	return infra.Output{}, nil
}

func (f *filled) Remove(ctx context.Context, path string) error {
	f.done = append(f.done, "remove "+path)
	return ctx.Err()
}

func TestALegWhoseReAddWasCutOffIsCleanedUp(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	super, err := ParseSuperblock(blob(t, "alone.superblock"))
	if err != nil {
		t.Fatal(err)
	}
	bitmap, err := ParseBitmap(blob(t, "alone.bitmap"))
	if err != nil {
		t.Fatal(err)
	}
	s := recorded(t, "network-alone")
	p := seedProgress{Array: s.Arrays[0].UUID, Boot: s.Boot, Super: super.Bytes(), Events: bitmap.EventsCleared, Mark: "x"}
	m := &filled{t: t, p: p, end: end}
	r := Rebuild{Machine: m, Target: "/dev/new", Role: Local}
	err = r.finish(ctx, Choice{array: s.Arrays[0], source: s.Arrays[0].Legs[0], super: super}, p, &Rebuilt{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it was cut off, and says %v", err)
	}
	if !slices.Contains(m.done, "mdadm --zero-superblock /dev/new") || !slices.Contains(m.done, "remove "+progressFile(p.Array)) {
		t.Errorf("it left a superblock on a leg that is no part of the array: %q", m.done)
	}
	if !m.forgot {
		t.Error("a Plimsoll that is killed right after the re-add leaves on the machine how far the copy was, and none removes it: the leg is in step")
	}
}
