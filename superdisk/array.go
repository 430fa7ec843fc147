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
	"plimsoll/internal/poll"
)

// Path is where an array of a name is found.
func Path(name string) string { return "/dev/md/" + name }

// Design is an array that is to be made.
type Design struct {
	Name           string
	Local, Network string // devices
	Chunk          int64  // bytes of the bitmap's chunks
	Reserve        int64  // bytes left free at the end of the smaller leg, so that the next disk may be a little smaller
}

// Create makes an array of two blank legs. Nothing is copied: neither leg's old content is read by anybody.
func Create(ctx context.Context, m infra.Machine, d Design) error {
	for _, device := range []string{d.Local, d.Network} {
		if err := Blank(ctx, m, device); err != nil {
			return err
		}
	}
	return d.make(ctx, m, d.Local)
}

// CreateAlone makes an array of a blank network leg, with a place for the local one, which is looked at for its size alone.
func CreateAlone(ctx context.Context, m infra.Machine, d Design) error {
	if err := Blank(ctx, m, d.Network); err != nil {
		return err
	}
	return d.make(ctx, m, "missing")
}

// Blank refuses a disk that holds something. The file system of a former array counts, even if its superblock was wiped: a new array
// would have it as its own.
func Blank(ctx context.Context, m infra.Machine, device string) error {
	disk, err := Examine(ctx, m, device)
	switch {
	case err != nil:
		return err
	case disk.Holds != "":
		return hint.With(fmt.Errorf("%s of %s cannot become a leg: %s", device, m.Name(), disk.Holds), disk.Advice())
	case disk.Size <= headroom:
		return nil // it is refused for its size
	}
	kind, err := kindAt(ctx, m, device, headroom)
	if err == nil && kind != "" {
		err = hint.With(fmt.Errorf("%s of %s cannot become a leg: it still has the %s of a former array, whose superblock was wiped", device, m.Name(), kind),
			fmt.Sprintf("it may be the only copy of its files: to look at them, mount -o ro,loop,offset=%d %s /mnt; for a new array use a blank disk", headroom, device))
	}
	return err
}

func (d Design) make(ctx context.Context, m infra.Machine, local string) error {
	if err := mdadmFits(ctx, m); err != nil {
		return err
	}
	if err := xfsFits(ctx, m); err != nil {
		return err
	}
	size, err := d.Size(ctx, m)
	if err != nil {
		return err
	}
	return mdadm(ctx, m, "--create", Path(d.Name), "--run", "--level=1", "--raid-devices=2", "--metadata=1.2", "--homehost=any", "--name="+d.Name,
		"--data-offset="+strconv.Itoa(headroom>>10)+"K", "--bitmap=internal", "--bitmap-chunk="+strconv.FormatInt(d.Chunk>>10, 10)+"K",
		"--size="+strconv.FormatInt(size>>10, 10), "--assume-clean", local, "--write-mostly", d.Network)
}

// Size is how many bytes the array will have.
func (d Design) Size(ctx context.Context, m infra.Machine) (int64, error) {
	least := int64(0)
	for _, device := range []string{d.Local, d.Network} {
		disk, err := Examine(ctx, m, device)
		if err != nil {
			return 0, err
		}
		if least == 0 || disk.Size < least {
			least = disk.Size
		}
	}
	size := least - d.Reserve - headroom
	if size < smallest {
		return 0, hint.With(fmt.Errorf("the smaller leg has %d MiB, which leaves no space for data", least>>20), "use larger volumes")
	}
	return size, nil
}

// Holds refuses to copy what a file system uses to an array of this size that has no room for it: a thirty-second part is left for what an
// XFS needs itself.
func Holds(size, used int64, mount string) error {
	if room := size - size/32; used > room {
		return hint.With(fmt.Errorf("%s uses %d MiB, and the array would have room for %d MiB", mount, used>>20, room>>20), "use a larger volume; the array is as large as its smaller leg")
	}
	return nil
}

const (
	headroom = 4 << 20   // before the data: mdadm would choose by its version and the size of the disk
	smallest = 300 << 20 // of an array: mkfs.xfs makes no smaller file system
)

// Format makes an XFS on the array, which must be blank.
func Format(ctx context.Context, m infra.Machine, device string) error {
	return run(ctx, m, "mkfs.xfs", "-q", "-K", device) // -K: a discard of the whole device would take long and set every bit of the bitmap
}

// FormatBlank is Format of an array that holds nothing; one that holds an XFS is left as it is, and anything else is refused.
func FormatBlank(ctx context.Context, m infra.Machine, device string) error {
	switch kind, err := kindAt(ctx, m, device, 0); {
	case err != nil:
		return err
	case kind == "xfs":
		if whole, err := formatted(ctx, m, device); err != nil || whole {
			return err
		}
		if err := Erase(ctx, m, device); err != nil {
			return err
		}
	case kind != "":
		return hint.With(fmt.Errorf("%s holds %s", device, kind), "look at what is on it first; a new array needs blank disks")
	}
	return Format(ctx, m, device)
}

// HalfMade says that an array has an XFS whose mkfs was cut off: FormatBlank makes it anew.
func HalfMade(ctx context.Context, m infra.Machine, device string) (bool, error) {
	kind, err := kindAt(ctx, m, device, 0)
	if err != nil || kind != "xfs" {
		return false, err
	}
	whole, err := formatted(ctx, m, device)
	return err == nil && !whole, err
}

// formatted says whether the mkfs that made an XFS came to its end: until then sb_inprogress of the superblock is set, and nobody can mount it.
func formatted(ctx context.Context, m infra.Machine, device string) (bool, error) {
	const inProgress = 126 // offset in struct xfs_dsb
	super, err := readDevice(ctx, m, device, 0, inProgress+1)
	return err == nil && super[inProgress] == 0, err
}

// kindAt is what blkid finds from this byte of a device on, "" if it finds nothing.
func kindAt(ctx context.Context, m infra.Machine, device string, offset int64) (string, error) {
	return blkid(ctx, m, device, offset, "TYPE")
}

// FileSystemUUID is the UUID of the file system on a device, "" if it has none.
func FileSystemUUID(ctx context.Context, m infra.Machine, device string) (string, error) {
	return blkid(ctx, m, device, 0, "UUID")
}

func blkid(ctx context.Context, m infra.Machine, device string, offset int64, tag string) (string, error) {
	out, err := m.Run(ctx, infra.Command{Path: "blkid", Args: []string{"-p", "-O", strconv.FormatInt(offset, 10), "-o", "value", "-s", tag, device}})
	var exit *infra.ExitError
	value := strings.TrimSpace(string(out.Stdout))
	if err != nil && value == "" && !(errors.As(err, &exit) && exit.Status == 2) { // 2 is blkid's word for nothing
		return "", fmt.Errorf("read the contents of %s: %w", device, err)
	}
	return value, nil
}

// Aside has a look at the file system of an array that is not mounted: it is mounted aside, to be read only. There may be none, or one
// that is half made, in which nothing can be yet.
func Aside(ctx context.Context, m infra.Machine, array, aside string, look func(at string) error) (err error) {
	kind, err := kindAt(ctx, m, array, 0)
	if err != nil {
		return err
	}
	if kind == "" {
		d, err := Examine(ctx, m, array)
		if err == nil && d.Holds != "" {
			err = fmt.Errorf("%s is not empty: %s", array, d.Holds)
		}
		return err
	}
	if kind == "xfs" {
		if whole, err := formatted(ctx, m, array); err != nil || !whole {
			return err
		}
	}
	if err := m.MakeDir(ctx, aside); err != nil {
		return err
	}
	if err := run(ctx, m, "mount", "-o", "ro", array, aside); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, Unmount(context.WithoutCancel(ctx), m, aside)) }()
	return look(aside)
}

// EmptyLeg says that a device is a leg of a RAID1 of that name or UUID whose data begins with nothing that is known, as when it was erased.
func EmptyLeg(ctx context.Context, m infra.Machine, device string, s Superblock, ref string) (bool, error) {
	name := s.Name()[strings.LastIndexByte(s.Name(), ':')+1:] // after the home host
	if s.Level() != 1 || name != ref && s.UUID() != mdadmUUID(ref) {
		return false, nil
	}
	kind, err := kindAt(ctx, m, device, s.DataOffset())
	return err == nil && kind == "", err
}

// Erase takes from a device that it holds a file system. What was on it is lost.
func Erase(ctx context.Context, m infra.Machine, device string) error {
	return run(ctx, m, "wipefs", "-q", "-a", device)
}

// Mount mounts the array's file system.
func Mount(ctx context.Context, m infra.Machine, device, at string) error {
	if err := m.MakeDir(ctx, at); err != nil {
		return err
	}
	return run(ctx, m, "mount", device, at)
}

// MountedOn is the device that is mounted at a place, "" if nothing is.
func MountedOn(ctx context.Context, m infra.Machine, at string) (string, error) {
	out, err := m.Run(ctx, infra.Command{Path: "awk", Args: []string{"-v", "at=" + at, "$2==at {d=$1} END {print d}", "/proc/self/mounts"}})
	if err != nil {
		return "", fmt.Errorf("look at what is mounted on %s: %w", m.Name(), err)
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

// Unmount unmounts it.
func Unmount(ctx context.Context, m infra.Machine, at string) error { return run(ctx, m, "umount", at) }

// Stop stops an array, whose file system must not be mounted.
func Stop(ctx context.Context, m infra.Machine, device string) error {
	return mdadm(ctx, m, "--stop", device)
}

// Fail has md give a leg up. It looks again first, and refuses if no other leg is in step.
func Fail(ctx context.Context, m infra.Machine, array, leg string) error {
	s, err := Inspect(ctx, m)
	if err != nil {
		return err
	}
	a, there := s.Find(array)
	if !there {
		return hint.With(fmt.Errorf("%s has no array %s", m.Name(), array), "plimsoll superdisk status shows those it has")
	}
	if !slices.ContainsFunc(a.Legs, func(l Leg) bool { return l.Device != leg && l.InStep() && !l.Faulty() }) {
		return hint.With(fmt.Errorf("%s cannot be removed from array %s: no other leg is in step", leg, a.Label()), "bring the other leg into step first: superdisk/rebuild")
	}
	return mdadm(ctx, m, array, "--fail", leg)
}

// Remove has md let go of a leg that it has given up. md refuses until the requests and the copy to it that were under way have ended; an
// mdadm that cannot be run is not tried again.
func Remove(ctx context.Context, m infra.Machine, array, leg string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lettingGo, fmt.Errorf("%s was not removed from %s within %s", leg, array, lettingGo))
	defer cancel()
	var cannot error
	err := poll.Try(ctx, 200*time.Millisecond, func() error {
		err := mdadm(ctx, m, array, "--remove", leg)
		if refused := (*infra.ExitError)(nil); err == nil || errors.As(err, &refused) {
			return err
		}
		cannot = err
		return nil
	})
	return errors.Join(err, cannot)
}

// lettingGo is how long md may hold a leg that it has given up.
const lettingGo = 15 * time.Second

// RemoveGone has md let go of legs whose devices are no more.
func RemoveGone(ctx context.Context, m infra.Machine, array string) error {
	return mdadm(ctx, m, array, "--fail", "detached", "--remove", "detached")
}

// RemoveFailed has md let go of all legs that it has given up, whether their devices are still there or not: a leg that it holds has
// the place of the one that comes back.
func RemoveFailed(ctx context.Context, m infra.Machine, array string) error {
	return mdadm(ctx, m, array, "--remove", "failed")
}

// StartAlone starts an array from one leg, never by making it anew. The bitmap is made anew, before anything is mounted:
// that of an array whose machine crashed may have all its bits set, and a leg that comes back would be given everything.
// So no leg that left before can come back but by a seed or whole.
func StartAlone(ctx context.Context, m infra.Machine, name, leg string, chunk int64) error {
	if err := mdadm(ctx, m, "--assemble", "--run", Path(name), leg); err != nil {
		return err
	}
	return FreshBitmap(ctx, m, Path(name), chunk)
}

// FreshBitmap replaces the bitmap of an array that is not mounted: doing it under load has been seen to deadlock.
func FreshBitmap(ctx context.Context, m infra.Machine, array string, chunk int64) error {
	// One that was stopped cleanly is read-only until something is written; one whose machine crashed is not. Whoever was cut off before may have
	// removed the bitmap, and mdadm refuses to remove none.
	err := run(ctx, m, "sh", "-c", `d=$(readlink -f "$1") && cd "/sys/block/${d##*/}/md" || exit 1
read -r state <array_state; case $state in read*) mdadm --readwrite "$1" || exit 1;; esac
read -r place <bitmap/location; [ "$place" = none ] || mdadm -q --grow --bitmap=none "$1"`, "sh", array)
	if err != nil {
		return err
	}
	return mdadm(ctx, m, "--grow", "--bitmap=internal", "--bitmap-chunk="+strconv.FormatInt(chunk>>10, 10)+"K", array)
}

// Start starts an array from both legs.
func Start(ctx context.Context, m infra.Machine, name string, legs ...string) error {
	return mdadm(ctx, m, append([]string{"--assemble", Path(name)}, legs...)...)
}

// ReAdd gives an array back a leg that left it; md copies what the bitmap says it lacks.
func ReAdd(ctx context.Context, m infra.Machine, array, leg string, role Role) error {
	return mdadm(ctx, m, join(array, "--re-add", leg, role)...)
}

// Add gives an array a leg to which md copies everything.
func Add(ctx context.Context, m infra.Machine, array, leg string, role Role) error {
	return mdadm(ctx, m, join(array, "--add", leg, role)...)
}

func join(array, how, leg string, role Role) []string {
	if role == Network {
		return []string{array, how, "--write-mostly", leg}
	}
	return []string{array, how, leg}
}

// EraseData erases the beginning of a leg's data, as far as file systems are known by it: once its superblock is wiped too, the disk is
// blank. No array may have the leg.
func EraseData(ctx context.Context, m infra.Machine, device string, s Superblock) error {
	return writePage(ctx, m, device, s.DataOffset(), make([]byte, 128<<10))
}

// Wipe takes from a device that it is a leg of an array.
func Wipe(ctx context.Context, m infra.Machine, device string) error {
	return mdadm(ctx, m, "--zero-superblock", device)
}

// SetPace bounds how fast md copies, in bytes per second.
func SetPace(ctx context.Context, m infra.Machine, array string, rate int64) error {
	_, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c",
		`d=$(readlink -f "$1") && d=/sys/block/${d##*/}/md && echo 1 >$d/sync_speed_min && echo "$2" >$d/sync_speed_max && { echo "$3" >$d/sync_speed_min; }`,
		"sh", array, strconv.FormatInt(max(2, rate>>10), 10), strconv.FormatInt(max(1, rate>>10), 10)}})
	if err != nil {
		return fmt.Errorf("limit the rate of %s: %w", array, err)
	}
	return nil
}

// ResetPace gives an array the bounds of the system again: ours would be those of every later copy and comparison.
func ResetPace(ctx context.Context, m infra.Machine, array string) error {
	_, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c",
		`d=$(readlink -f "$1") && cd /sys/block/${d##*/}/md && echo system >sync_speed_min && echo system >sync_speed_max`, "sh", array}})
	if err != nil {
		return fmt.Errorf("reset the limits of the rate of %s: %w", array, err)
	}
	return nil
}

// AwaitWhole waits until both legs are in step, or says what keeps them from it.
func AwaitWhole(ctx context.Context, m infra.Machine, ref string, tell func(Array)) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	idle := 0
	for {
		s, err := Inspect(ctx, m)
		if err != nil {
			return err
		}
		a, there := s.Find(ref)
		switch {
		case !there:
			return fmt.Errorf("array %s is not on %s any more", ref, m.Name())
		case a.Whole():
			return nil
		case a.Sync == nil:
			if idle++; idle > 25 {
				return fmt.Errorf("array %s is not whole, and nothing is being copied: %s", a.Label(), a.legsText())
			}
		default:
			idle = 0
		}
		if tell != nil {
			tell(a)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w; %s", context.Cause(ctx), a.legsText())
		}
	}
}

func (a Array) legsText() string {
	var all []string
	for _, l := range a.Legs {
		all = append(all, fmt.Sprintf("%s leg %s is %s", l.Role, l.Device, strings.Join(l.State, " and ")))
	}
	return fmt.Sprintf("%d of %d legs are missing; %s", a.Degraded, a.Slots, strings.Join(all, ", "))
}
