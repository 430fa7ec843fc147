package run

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/infra"
)

func environmentOf(r *runner) result.Environment {
	return result.Environment{
		Plimsoll: r.options.Version,
		Started:  r.started,
		Ended:    time.Now(),
		Seed:     r.trial.Seed,
		Engine:   r.facts,
		Host:     r.host,
		Settings: r.settings,
		Command:  r.options.Command,
	}
}

// hostFacts is what a reader must know of the machine. What it does not tell is left out.
func hostFacts(ctx context.Context, m infra.Machine, dir string) map[string]string {
	facts := map[string]string{"machine": m.Name(), "arch": runtime.GOARCH}
	read := func(path string) string {
		data, err := m.ReadFile(ctx, path)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(data))
	}
	set := func(name, value string) {
		if value != "" {
			facts[name] = value
		}
	}
	set("kernel", read("/proc/sys/kernel/osrelease"))
	set("os", strings.Trim(valueOf(read("/etc/os-release"), "PRETTY_NAME="), `"`))
	set("cpu", strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(valueOf(read("/proc/cpuinfo"), "model name")), ":")))
	if kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(valueOf(read("/proc/meminfo"), "MemTotal:")), " kB"), 10, 64); err == nil {
		set("memory_bytes", strconv.FormatInt(kib*1024, 10))
	}
	if space, err := m.Space(ctx, dir); err == nil {
		set("cores", strconv.Itoa(space.Cores))
	}
	set("filesystem", mountOf(read("/proc/self/mounts"), dir))
	return facts
}

// valueOf returns what follows a key at the beginning of a line.
func valueOf(text, key string) string {
	for line := range strings.Lines(text) {
		if rest, is := strings.CutPrefix(line, key); is {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// mountOf returns type and options of the file system that a path lies on, from a table as fstab(5) describes it.
func mountOf(mounts, path string) string {
	longest, found := -1, ""
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < 4 || len(f[1]) <= longest {
			continue
		}
		if path == f[1] || strings.HasPrefix(path, strings.TrimSuffix(f[1], "/")+"/") {
			longest, found = len(f[1]), f[2]+" ("+f[3]+")"
		}
	}
	return found
}
