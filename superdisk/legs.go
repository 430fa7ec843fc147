package superdisk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// LegsOf finds a machine's disks that are legs of an array, by what they say of themselves. It asks every disk.
func LegsOf(ctx context.Context, m infra.Machine, uuid string) ([]string, error) {
	disks, err := diskNames(ctx, m)
	if err != nil {
		return nil, err
	}
	var legs []string
	for _, device := range disks {
		s, err := ReadSuperblock(ctx, m, device)
		switch {
		case errors.Is(err, ErrNoSuperblock), errors.Is(err, ErrDamagedSuperblock):
		case err != nil:
			return nil, err
		case s.UUID() == uuid:
			legs = append(legs, device)
		}
	}
	return legs, nil
}

// diskNames are a machine's disks and their partitions that may be legs.
func diskNames(ctx context.Context, m infra.Machine) ([]string, error) {
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", namingDisks, "sh", "/sys/class/block"}})
	if err != nil {
		return nil, fmt.Errorf("list the disks of %s: %w", m.Name(), err)
	}
	var disks []string
	for name := range strings.FieldsSeq(string(out.Stdout)) {
		disks = append(disks, "/dev/"+strings.ReplaceAll(name, "!", "/"))
	}
	slices.Sort(disks)
	return disks, nil
}

// namingDisks leaves out the paths that the kernel joins to one disk: they have no device that could be opened.
const namingDisks = `cd "$1" && for b in *; do
	case $b in md*|loop*|ram*|zram*|sr*|fd*) continue;; esac
	hidden=; { read -r hidden <"$b/hidden"; } 2>/dev/null; [ "$hidden" != 1 ] || continue
	[ "$(cat "$b/size")" -gt 16 ] && echo "$b"
done; true`

// servedAlone is that leg of these which has served without the others, "" if none has.
func servedAlone(ctx context.Context, m infra.Machine, legs ...string) (string, error) {
	for _, device := range legs {
		s, err := ReadSuperblock(ctx, m, device)
		if err != nil || s.ServedAlone() {
			return device, err
		}
	}
	return "", nil
}

// Together refuses legs of which one has served without the other: md would take the one with more events, which need not be the one
// with what was acknowledged.
func Together(ctx context.Context, m infra.Machine, legs ...string) error {
	device, err := servedAlone(ctx, m, legs...)
	if err != nil || device == "" {
		return err
	}
	return hint.With(fmt.Errorf("%s has served without the other leg: the legs are not in step", device),
		"start the array from the leg that served last (superdisk/emergency-start), and rebuild the other (superdisk/rebuild, superdisk/reattach-network)")
}

// SamePlace are two of these legs that have the same place in their array, "" if each has its own: one is a copy of the other, as a snapshot of its volume
// is, or was replaced by it.
func SamePlace(ctx context.Context, m infra.Machine, legs ...string) (one, other string, err error) {
	at := map[int]string{}
	for _, device := range legs {
		s, err := ReadSuperblock(ctx, m, device)
		if err != nil {
			return "", "", err
		}
		if before, taken := at[s.Slot()]; taken && s.Slot() >= 0 {
			return before, device, nil
		}
		at[s.Slot()] = device
	}
	return "", "", nil
}

// Placed are those of these legs that have a place in their array, by what they say of themselves: one that was given up has none.
func Placed(ctx context.Context, m infra.Machine, legs ...string) (placed []string, err error) {
	for _, device := range legs {
		s, err := ReadSuperblock(ctx, m, device)
		if err != nil {
			return nil, err
		}
		if s.Slot() >= 0 {
			placed = append(placed, device)
		}
	}
	return placed, nil
}

// Ahead is that leg of these which has served without the others, if they have not: it has everything that they have. "" if none has;
// two are refused.
func Ahead(ctx context.Context, m infra.Machine, legs ...string) (ahead string, err error) {
	for _, device := range legs {
		s, err := ReadSuperblock(ctx, m, device)
		switch {
		case err != nil:
			return "", err
		case !s.ServedAlone():
		case ahead != "":
			return "", hint.With(fmt.Errorf("%s and %s have both served without the other leg: each has writes that the other lacks", ahead, device),
				"decide which one is right and start the array from it (superdisk/emergency-start); keep the other as it is until nothing of it is needed, and give the array a blank disk for it (superdisk/rebuild, superdisk/reattach-network)")
		default:
			ahead = device
		}
	}
	return ahead, nil
}

// StopHolders stops what a machine has assembled of a device by itself: an array that is inactive, or that nobody has mounted.
// One that is mounted is refused.
func StopHolders(ctx context.Context, m infra.Machine, device string) error {
	s, err := Inspect(ctx, m)
	if err != nil {
		return err
	}
	for _, a := range s.Arrays {
		if _, holds := a.On(device); !holds {
			continue
		}
		if a.Mount != "" {
			return hint.With(fmt.Errorf("%s is a leg of %s, which is mounted at %s", device, a.Label(), a.Mount), "stop the programs that use it and unmount it, if it is not needed")
		}
		if err := Stop(ctx, m, a.Device); err != nil {
			return err
		}
	}
	return nil
}

// Compare has md read both legs and returns how many bytes differ.
func Compare(ctx context.Context, m infra.Machine, ref string, rate int64, tell func(float64, string)) (int64, error) {
	s, err := Inspect(ctx, m)
	if err != nil {
		return 0, err
	}
	a, there := s.Find(ref)
	if !there || a.Degraded > 0 {
		return 0, fmt.Errorf("array %s is not whole", ref)
	}
	if err := SetPace(ctx, m, a.Device, rate); err != nil {
		return 0, err
	}
	if err := order(ctx, m, a.Device, "check"); err != nil {
		return 0, err
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		f, err := look(ctx, m)
		if err != nil {
			return 0, err
		}
		a, there := f.status().Find(a.UUID)
		if !there {
			return 0, fmt.Errorf("array %s is not on %s any more", ref, m.Name())
		}
		if a.Sync == nil {
			if err := ResetPace(ctx, m, a.Device); err != nil {
				return 0, err
			}
			n, err := strconv.ParseInt(f.line(strings.TrimPrefix(a.Device, "/dev/")+"/md/mismatch_cnt"), 10, 64)
			return n * sector, err
		}
		if tell != nil {
			tell(float64(a.Sync.Done)/float64(max(1, a.Sync.Total)), fmt.Sprintf("compared %d of %d MiB", a.Sync.Done>>20, a.Sync.Total>>20))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, errors.Join(context.Cause(ctx), StopComparing(context.WithoutCancel(ctx), m, a.Device))
		}
	}
}

// StopComparing ends a comparison that is under way, and what held its rate. It takes a minute at most.
func StopComparing(ctx context.Context, m infra.Machine, array string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("the comparison of %s was not stopped within a minute", array))
	defer cancel()
	if err := order(ctx, m, array, "idle"); err != nil {
		return err
	}
	return ResetPace(ctx, m, array)
}

func order(ctx context.Context, m infra.Machine, array, what string) error {
	_, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", `d=$(readlink -f "$1") && echo "$2" >/sys/block/${d##*/}/md/sync_action`, "sh", array, what}})
	if err != nil {
		return fmt.Errorf("set the sync_action of %s to %s: %w", array, what, err)
	}
	return nil
}
