package superdisk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Resolve finds the device of a volume on a machine: by the serial number of its disk, never by the order in which the
// kernel found it. A path is taken as it is.
func Resolve(ctx context.Context, m infra.Machine, ref string) (string, error) {
	if strings.HasPrefix(ref, "/dev/") {
		return ref, nil
	}
	all, err := infra.Devices(ctx, m)
	if err != nil {
		return "", err
	}
	d, there, err := infra.WithSerial(m.Name(), all, ref, infra.VolumeSerial(ref))
	if err != nil || there {
		return d.Path, err
	}
	return "", hint.With(fmt.Errorf("volume %s is not on %s: %w", ref, m.Name(), infra.ErrNotAttached), "attach it first; plimsoll superdisk status shows what is there")
}

// ReadSuperblock reads what a device says of the array it is a leg of; ErrNoSuperblock if it is of none. It asks the disk.
func ReadSuperblock(ctx context.Context, m infra.Machine, device string) (Superblock, error) {
	data, err := readDevice(ctx, m, device, SuperblockOffset, SuperblockSize)
	if err != nil {
		return Superblock{}, err
	}
	s, err := ParseSuperblock(data)
	if err != nil {
		return s, fmt.Errorf("%s of %s: %w", device, m.Name(), err)
	}
	return s, nil
}

// readDevice reads whole pages past the page cache, which md does not write through.
func readDevice(ctx context.Context, m infra.Machine, device string, offset, length int64) ([]byte, error) {
	const page = 4096
	first, last := offset/page, (offset+length+page-1)/page
	out, err := m.Run(ctx, infra.Command{Path: "dd", Args: []string{
		"if=" + device, "bs=4096", "skip=" + strconv.FormatInt(first, 10), "count=" + strconv.FormatInt(last-first, 10), "iflag=direct", "status=none",
	}})
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", device, m.Name(), err)
	}
	from := offset - first*page
	if int64(len(out.Stdout)) < from+length {
		return nil, fmt.Errorf("read %s of %s: it ends after %d bytes", device, m.Name(), first*page+int64(len(out.Stdout)))
	}
	return out.Stdout[from : from+length], nil
}

// writePage writes one page of a device, on disk when it returns.
func writePage(ctx context.Context, m infra.Machine, device string, offset int64, data []byte) error {
	_, err := m.Run(ctx, infra.Command{Path: "dd", Stdin: data, Args: []string{
		"of=" + device, "bs=4096", "seek=" + strconv.FormatInt(offset/4096, 10), "oflag=direct", "iflag=fullblock", "conv=fsync,notrunc", "status=none",
	}})
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", device, m.Name(), err)
	}
	return nil
}

// ReadBitmap reads the write-intent bitmap of a leg. It asks the disk.
func ReadBitmap(ctx context.Context, m infra.Machine, device string, s Superblock) (Bitmap, error) {
	if !s.HasBitmap() {
		return Bitmap{}, ErrNoBitmap
	}
	data, err := readDevice(ctx, m, device, s.BitmapOffset(), bitmapHeader)
	if err != nil {
		return Bitmap{}, err
	}
	head, err := bitmapHead(data)
	if err != nil {
		return head, err
	}
	if data, err = readDevice(ctx, m, device, s.BitmapOffset(), head.length()); err != nil {
		return Bitmap{}, err
	}
	return ParseBitmap(data)
}

// Disk is what stands on a device that is to become a leg.
type Disk struct {
	Device string
	Size   int64
	// Holds says what would be lost or disturbed, empty if the device is blank and free.
	Holds string
	Used  bool   // it is mounted, or something is built on it
	Leg   bool   // it holds nothing but the superblock and the data of an array's leg
	Array string // the UUID of the array whose leg it is
	Mount string // where it is mounted
}

// Advice says what is done with a disk that cannot become a leg since it holds something, which may be the only copy of its data: nothing that
// is advised erases it.
func (d Disk) Advice() string {
	switch {
	case d.Mount != "":
		return "superdisk/migrate -i local=" + d.Device + " -i mount=" + d.Mount + " moves the files of a disk that is mounted onto an array; for a new array use a blank disk"
	case d.Leg:
		return "plimsoll superdisk status shows that array and how it is started (superdisk/start, or from one leg superdisk/emergency-start); superdisk/retire removes an array that is not needed. For another array use a blank disk"
	case d.Array != "":
		return "it is in use as a leg: plimsoll superdisk status shows its array. For another array use a blank disk"
	}
	return "use a blank disk. If a run of superdisk/migrate waits, plimsoll runbook status names it and how to continue it: its last steps make a leg of the old disk"
}

// Examine looks at a device before it is made a leg: what it holds, who uses it, whether it is large enough is for the caller.
func Examine(ctx context.Context, m infra.Machine, device string) (Disk, error) {
	d := Disk{Device: device}
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", examining, "sh", device}})
	var exit *infra.ExitError
	if errors.As(err, &exit) && exit.Status == 3 {
		return d, hint.With(fmt.Errorf("%s has no disk %s", m.Name(), device), "name a device that is there, or the id of a volume that is attached")
	}
	if err != nil {
		return d, fmt.Errorf("look at %s of %s: %w", device, m.Name(), err)
	}
	member := false // by its type
	for line := range bytes.Lines(out.Stdout) {
		key, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		switch {
		case value == "":
		case key == "size":
			if d.Size, err = strconv.ParseInt(value, 10, 64); err != nil {
				return d, fmt.Errorf("the size of %s: %w", device, err)
			}
			d.Size *= sector
		case d.Holds != "":
		case key == "holder":
			d.Holds, d.Used = "it is in use by "+value, true
		case key == "mount":
			d.Holds, d.Used, d.Mount = "it is mounted on "+value, true, value
		case key == "swap":
			d.Holds, d.Used = "it is used as swap", true
		case key == "part":
			d.Holds = "it has a partition " + value
		case key == "type":
			d.Holds, member = "it holds "+value, value == "linux_raid_member"
		}
	}
	s, err := ReadSuperblock(ctx, m, device)
	switch {
	case err == nil:
		d.Array = s.UUID()
		if d.Holds == "" || member {
			d.Leg = true
			d.Holds = fmt.Sprintf("it is a leg of array %s (%s)", s.Name(), s.UUID())
		}
	case !errors.Is(err, ErrNoSuperblock) && !errors.Is(err, ErrDamagedSuperblock):
		return d, err
	}
	return d, nil
}

// examining has the shell read what has one line: on a small machine each program that it starts costs as much as all that is read.
const examining = `
b=$(readlink -f "$1"); b=${b##*/}; s=/sys/class/block/$b
[ -e "$s/size" ] || exit 3
read -r size <$s/size; echo "size $size"
for h in $s/holders/*; do [ -e "$h" ] && echo "holder ${h##*/}"; done
for p in $s/$b*; do [ -e "$p/partition" ] && echo "part ${p##*/}"; done
read -r n <$s/dev
echo "mount $(awk -v n=$n '$3==n {print $5; exit}' /proc/self/mountinfo)"
while read -r swap _; do [ "$swap" = "$1" ] && echo "swap yes"; done </proc/swaps
echo "type $(blkid -p -o value -s TYPE "$1" 2>/dev/null || blkid -p -o value -s PTTYPE "$1" 2>/dev/null)"
true
`
