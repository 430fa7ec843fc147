package probe

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
	"plimsoll/series"
)

// Process reads what a server's process uses of its host, from the host's /proc: CPU, memory, and, where the user may
// see it, its reads and writes on disk.
type Process struct {
	node    string
	machine infra.Machine
	id      func() int // 0 while there is none; a restart changes it
	rates   rates
}

var _ Probe = (*Process)(nil)

// The signals of a Process.
const (
	cpuCores      = "process.cpu_cores"
	memoryBytes   = "process.memory_bytes"
	diskReadRate  = "process.disk_read_bytes_per_second"
	diskWriteRate = "process.disk_write_bytes_per_second"
)

// ProcessSignals are the names of what a Process shows.
func ProcessSignals() []string { return []string{cpuCores, memoryBytes, diskReadRate, diskWriteRate} }

// NewProcess returns a probe of the process whose id is asked for at every reading.
func NewProcess(node string, m infra.Machine, id func() int) *Process {
	return &Process{node: node, machine: m, id: id}
}

// ticks is what the kernel counts CPU time in: USER_HZ, 100 a second on every Linux that Go runs on.
const ticks = 100

// Read reads the process's accounts; a process that is gone has no points.
func (p *Process) Read(ctx context.Context, now time.Time) ([]series.Point, error) {
	id := p.id()
	if id == 0 {
		return nil, nil
	}
	dir := "/proc/" + strconv.Itoa(id)
	stat, err := p.machine.ReadFile(ctx, dir+"/stat")
	if err != nil {
		return nil, nil //nolint:nilerr // gone between two looks: an event elsewhere, not a fault of the probe
	}
	cpu, err := cpuSeconds(stat)
	if err != nil {
		return nil, fmt.Errorf("read the CPU time of %s: %w", p.node, err)
	}
	passed := p.rates.begin(now)
	var points []series.Point
	add := func(signal string, value float64, ok bool) {
		if ok {
			points = append(points, series.Point{Time: now, Signal: signal, Node: p.node, Value: value})
		}
	}
	rate, ok := p.rates.rate("cpu", cpu, passed)
	add(cpuCores, rate, ok)
	if status, err := p.machine.ReadFile(ctx, dir+"/status"); err == nil {
		kib, ok := field(status, "VmRSS:")
		add(memoryBytes, kib*1024, ok)
	}
	if io, err := p.machine.ReadFile(ctx, dir+"/io"); err == nil {
		for _, c := range []struct{ key, signal string }{
			{"read_bytes:", diskReadRate},
			{"write_bytes:", diskWriteRate},
		} {
			if bytes, ok := field(io, c.key); ok {
				rate, ok := p.rates.rate(c.key, bytes, passed)
				add(c.signal, rate, ok)
			}
		}
	}
	return points, nil
}

// cpuSeconds is user and system time from /proc/PID/stat, fields 14 and 15 of proc(5); the name in field 2 may hold spaces.
func cpuSeconds(stat []byte) (float64, error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if end < 0 || len(fields) < 13 {
		return 0, fmt.Errorf("unexpected form %q", stat)
	}
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("unexpected form %q", stat)
	}
	return (user + system) / ticks, nil
}

// field finds the number after a key at the beginning of a line.
func field(text []byte, key string) (float64, bool) {
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, key); is {
			words := strings.Fields(rest)
			if len(words) == 0 {
				return 0, false
			}
			v, err := strconv.ParseFloat(words[0], 64)
			return v, err == nil
		}
	}
	return 0, false
}
