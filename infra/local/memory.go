//go:build linux

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// memoryFree is what the kernel calls available, or what is left within the limits of the control groups this process
// is in, which its servers inherit: the smaller.
func memoryFree(root fs.FS) (int64, error) {
	data, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, err
	}
	free, ok := field(string(data), "MemAvailable:")
	if !ok {
		return 0, errors.New("/proc/meminfo does not say MemAvailable")
	}
	free *= 1 << 10
	for _, group := range groups(root) {
		if left, limited := group.left(root); limited {
			free = min(free, max(left, 0))
		}
	}
	return free, nil
}

// group is a control group that may limit memory, in the files and words of its version of the interface.
type group struct{ folder, limit, usage, reclaimable string }

// groups returns the control group of this process for memory, and all above it: each may have its limit.
func groups(root fs.FS) []group {
	data, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil // no control groups
	}
	var all []group
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for at := parts[2]; ; at = path.Dir(at) {
			switch {
			case parts[1] == "": // version 2
				all = append(all, group{path.Join("sys/fs/cgroup", at), "memory.max", "memory.current", "inactive_file"})
			case strings.Contains(","+parts[1]+",", ",memory,"):
				all = append(all, group{path.Join("sys/fs/cgroup/memory", at),
					"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"})
			}
			if at == "/" || at == "." {
				break
			}
		}
	}
	return all
}

// left is what the group may still take: its limit less its usage, of which the page cache that nobody used lately will
// be given back.
func (g group) left(root fs.FS) (bytes int64, limited bool) {
	limit, err := number(root, path.Join(g.folder, g.limit))
	if err != nil {
		return 0, false // no such group seen from here, or "max"
	}
	usage, err := number(root, path.Join(g.folder, g.usage))
	if err != nil {
		return 0, false
	}
	statistics, err := fs.ReadFile(root, path.Join(g.folder, "memory.stat"))
	if err != nil {
		return 0, false
	}
	cache, _ := field(string(statistics), g.reclaimable)
	return limit - usage + cache, true
}

func number(root fs.FS, name string) (int64, error) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return n, nil
}

// field returns the number after a word that begins a line.
func field(text, word string) (int64, bool) {
	for line := range strings.Lines(text) {
		columns := strings.Fields(line)
		if len(columns) > 1 && columns[0] == word {
			n, err := strconv.ParseInt(columns[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
