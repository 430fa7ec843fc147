package superdisk

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
)

const (
	devices   = "/sys/block/"
	ownFolder = "/run/plimsoll-superdisk/" // of what is kept of seedings and of probes of legs
)

// looked are all files that status shows, and md's own by their paths from /sys/block on. They are files of /proc, /sys and /run, and names
// of devices, which are not opened: a disk that hangs would hang whoever asks it.
const looked = `
/proc/sys/kernel/osrelease /proc/self/mountinfo /proc/sys/kernel/random/boot_id
/dev/md/* /run/plimsoll-superdisk/*.json /run/plimsoll-superdisk/asked.*
md*/dev md*/size
md*/md/array_state md*/md/level md*/md/raid_disks md*/md/degraded md*/md/uuid
md*/md/sync_action md*/md/sync_completed md*/md/sync_speed md*/md/sync_speed_min md*/md/sync_speed_max md*/md/mismatch_cnt
md*/md/bitmap/location md*/md/bitmap/chunksize
md*/md/dev-*/state md*/md/dev-*/slot md*/md/dev-*/errors md*/md/dev-*/bad_blocks
md*/md/dev-*/block/stat md*/md/dev-*/block/inflight md*/md/dev-*/block/size md*/md/dev-*/block/queue/io_timeout
md*/md/dev-*/block/serial md*/md/dev-*/block/device/serial md*/md/dev-*/block/../serial md*/md/dev-*/block/../device/serial
`

// files are what a look has read, by path: those of /sys/block from there on.
type files struct {
	now time.Time // by the machine's clock
	all map[string]infra.File
}

// look reads them on a machine.
func look(ctx context.Context, m infra.Machine) (files, error) {
	patterns := strings.Fields(looked)
	for i, pattern := range patterns {
		if !path.IsAbs(pattern) {
			patterns[i] = devices + pattern
		}
	}
	taken, err := m.Snapshot(ctx, patterns...)
	if err != nil {
		return files{}, fmt.Errorf("read the state of the disks of %s: %w", m.Name(), err)
	}
	f := filesOf(taken)
	return f, f.unread(m.Name())
}

// unread says which files are there and could not be read: without those of md, an array would be shown as if it were not there. A disk that
// fails may refuse its own, which its array does not depend on.
func (f files) unread(machine string) error {
	var all []error
	for _, one := range f.below("") {
		if one.Error != "" && !strings.Contains(strings.TrimPrefix(one.Path, devices), "/block/") {
			all = append(all, fmt.Errorf("read %s of %s: %s", one.Path, machine, one.Error))
		}
	}
	return errors.Join(all...)
}

func filesOf(taken infra.Snapshot) files {
	f := files{taken.Now, map[string]infra.File{}}
	for _, one := range taken.Files {
		f.all[strings.TrimPrefix(one.Path, devices)] = one
	}
	return f
}

// line is the only or first line of a file, "" if it is not there.
func (f files) line(name string) string {
	first, _, _ := strings.Cut(string(f.all[name].Content), "\n")
	return strings.TrimSpace(first)
}

// number is the first number of a file, 0 if there is none.
func (f files) number(name string) int64 {
	word, _, _ := strings.Cut(f.line(name), " ")
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (f files) fields(name string) []int64 { return numbers(f.line(name)) }

// numbers are those of a line, nil if there is anything else.
func numbers(line string) []int64 {
	var all []int64
	for word := range strings.FieldsSeq(line) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// below are the files whose paths begin so.
func (f files) below(prefix string) []infra.File {
	var found []infra.File
	for name, file := range f.all {
		if strings.HasPrefix(name, prefix) {
			found = append(found, file)
		}
	}
	slices.SortFunc(found, func(a, b infra.File) int { return strings.Compare(a.Path, b.Path) })
	return found
}

// arrays are the names of the machine's md devices that have a level: md127.
func (f files) arrays() []string {
	var names []string
	for name := range f.all {
		if dir, base := path.Split(name); base == "array_state" && strings.HasSuffix(dir, "/md/") {
			names = append(names, strings.TrimSuffix(dir, "/md/"))
		}
	}
	return names
}
