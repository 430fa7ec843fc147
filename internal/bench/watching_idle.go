package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
)

// watchIdle says how much memory plimsoll watch takes, as a user runs it, for ten instances on which nothing happens: servers of recorded
// answers, in a process of their own.
func watchIdle(ctx context.Context, o options) error { return o.onRecorded(ctx, o.idleOn) }

func (o options) idleOn(ctx context.Context, folder string, target engine.Target) error {
	const instances, length = 10, 2 * time.Minute
	w, err := o.watchNamed(ctx, folder, target, instances, "")
	if err != nil {
		return err
	}
	if err := wait(ctx, length); err != nil {
		return errors.Join(err, w.stop())
	}
	most, err := peakMemory(w.cmd.Process.Pid)
	if err := errors.Join(err, w.stop()); err != nil {
		return err
	}
	fmt.Printf("plimsoll watch of %d instances for %s: **%.0f MB** at most. Goal: below 120 MB.\n\n", instances, length, float64(most)/1e6)
	return nil
}

// watchNamed watches one server under several names, with settings.
func (o options) watchNamed(ctx context.Context, folder string, target engine.Target, instances int, settings string) (watchedProcess, error) {
	var inventory strings.Builder
	inventory.WriteString("clusters:\n")
	for n := range instances {
		inventory.WriteString(listed(clusterNamed(n), target))
	}
	return o.watchOf(ctx, folder, inventory.String(), settings, target)
}

func clusterNamed(n int) string { return fmt.Sprintf("c%02d", n) }

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory is the most that a process had in memory, in bytes: VmHWM of /proc/PID/status.
func peakMemory(pid int) (int64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, fmt.Errorf("read the memory of the watch: %w", err)
	}
	m := peak.FindSubmatch(text)
	if m == nil {
		return 0, errors.New("the kernel does not say how much memory the watch took")
	}
	kilobytes, err := strconv.ParseInt(string(m[1]), 10, 64)
	return kilobytes << 10, err
}

// watchDocuments runs the benchmark of the sink.
func watchDocuments(ctx context.Context, o options) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./watch/sink", "-run", "xxx", "-bench", "^BenchmarkDocuments$", "-benchtime", fmt.Sprintf("%ds", o.seconds))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("send documents: %w: %s", err, out)
	}
	m := documents.FindSubmatch(out)
	if m == nil {
		return fmt.Errorf("the benchmark did not say how many documents it sent: %s", out)
	}
	fmt.Printf("Documents spooled, sent and indexed, OpenSearch on the same machine: **%s a second**. Goal: 20,000.\n\n", m[1])
	return nil
}

var documents = regexp.MustCompile(`(\d+)(?:\.\d+)? documents/s`)
