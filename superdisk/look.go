package superdisk

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"plimsoll/infra"
)

// looking reads all that status shows in one command. It reads files of /proc and /sys only and touches no disk: a disk that
// hangs would hang whoever asks it.
const looking = `
cd /sys/block || exit 1
exec 2>/dev/null
date '+/now:%s.%N'
for l in /dev/md/*; do [ -e "$l" ] && echo "/link:$l $(readlink -f "$l")"; done
for p in /run/plimsoll-superdisk/*.json; do [ -e "$p" ] && echo "/seed:$(($(date +%s) - $(stat -c %Y "$p"))) $(cat "$p")"; done
grep -sH '' /proc/sys/kernel/osrelease /proc/self/mountinfo /proc/sys/kernel/random/boot_id \
  md*/dev md*/stat md*/inflight md*/size \
  md*/md/array_state md*/md/level md*/md/raid_disks md*/md/degraded md*/md/uuid md*/md/metadata_version md*/md/component_size \
  md*/md/sync_action md*/md/sync_completed md*/md/sync_speed md*/md/sync_speed_min md*/md/sync_speed_max md*/md/mismatch_cnt md*/md/last_sync_action \
  md*/md/bitmap/location md*/md/bitmap/chunksize \
  md*/md/dev-*/state md*/md/dev-*/slot md*/md/dev-*/errors md*/md/dev-*/bad_blocks md*/md/dev-*/recovery_start md*/md/dev-*/offset md*/md/dev-*/size \
  md*/md/dev-*/block/stat md*/md/dev-*/block/inflight md*/md/dev-*/block/size md*/md/dev-*/block/dev \
  md*/md/dev-*/block/serial md*/md/dev-*/block/device/serial md*/md/dev-*/block/../serial md*/md/dev-*/block/../device/serial \
  md*/md/dev-*/block/queue/io_timeout md*/md/dev-*/block/queue/rotational
true
`

// files are the lines of /proc and /sys by path, as looking prints them.
type files map[string][]string

func parseFiles(text string) files {
	f := files{}
	for line := range strings.Lines(text) {
		if name, content, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":"); ok {
			f[name] = append(f[name], content)
		}
	}
	return f
}

// line is the only or first line of a file, "" if it is not there.
func (f files) line(name string) string {
	if lines := f[name]; len(lines) > 0 {
		return strings.TrimSpace(lines[0])
	}
	return ""
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

func (f files) fields(name string) []int64 {
	var all []int64
	for word := range strings.FieldsSeq(f.line(name)) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// look reads them on a machine.
func look(ctx context.Context, m infra.Machine) (files, error) {
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", looking}})
	if err != nil {
		return nil, fmt.Errorf("read the state of the disks of %s: %w", m.Name(), err)
	}
	return parseFiles(string(out.Stdout)), nil
}

// arrays are the names of the machine's md devices that have a level: md127.
func (f files) arrays() []string {
	var names []string
	for name := range f {
		if dir, base := path.Split(name); base == "array_state" && strings.HasSuffix(dir, "/md/") {
			names = append(names, strings.TrimSuffix(dir, "/md/"))
		}
	}
	return names
}
