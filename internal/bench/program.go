package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/catalog"
	"plimsoll/infra/local"
	"plimsoll/probe"
)

// What the program may cost by itself.
const (
	largestBinary = 90e6 // bytes, stripped
	largestIdle   = 60e6 // bytes of memory, while a run waits
	longestStart  = 200 * time.Millisecond
)

// program measures a stripped binary: its size, how long it takes to start, and what it holds while a run waits for a person.
func program(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "plimsoll")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./cmd/plimsoll")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	file, err := os.Stat(binary)
	if err != nil {
		return err
	}
	fmt.Printf("Stripped binary: %.1f MB, goal below %.0f MB: %s.\n\n", float64(file.Size())/1e6, largestBinary/1e6, met(float64(file.Size()) < largestBinary))
	if err := o.starts(ctx, binary); err != nil {
		return err
	}
	return o.waits(ctx, dir, binary)
}

func met(is bool) string {
	if is {
		return "met"
	}
	return "**missed**"
}

// starts compares how long it takes from the start of a process to its end, in rounds of one start each.
func (o options) starts(ctx context.Context, binary string) error {
	commands := [][]string{{binary, "--version"}, {binary, "runbook", "list"}, {"git", "--version"}, {"go", "version"}}
	wall, cpu := make([][]float64, len(commands)), make([][]float64, len(commands))
	rounds := 4*o.pairs + 1
	for round := range rounds + 1 {
		for i := range commands {
			i = (i + round) % len(commands) // each is first as often as the others
			cmd := exec.CommandContext(ctx, commands[i][0], commands[i][1:]...)
			began := time.Now()
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("start %s: %w", filepath.Base(commands[i][0]), err)
			}
			if round == 0 {
				continue // the first start reads the file from the disk
			}
			wall[i], cpu[i] = append(wall[i], micros(time.Since(began))/1e3), append(cpu[i], micros(used(cmd))/1e3)
		}
	}
	fmt.Printf("| command | ms to its end, median of %d | least to most | ms of CPU, median | goal |\n|---|---|---|---|---|\n", rounds)
	for i, command := range commands {
		goal := ""
		if command[0] == binary {
			goal = fmt.Sprintf("below %d: %s", longestStart.Milliseconds(), met(median(wall[i]) < float64(longestStart.Milliseconds())))
		}
		name := strings.Join(append([]string{filepath.Base(command[0])}, command[1:]...), " ")
		fmt.Printf("| `%s` | %.0f | %.0f to %.0f | %.0f | %s |\n", name, median(wall[i]), slices.Min(wall[i]), slices.Max(wall[i]), median(cpu[i]), goal)
	}
	fmt.Println()
	return nil
}

// asks is a runbook that only waits for a person, on a cluster that it need not reach.
var asks = map[string]string{
	"asks.yaml": "runbook: own/asks\nsteps:\n  - {id: go, approval: {note: \"Go on?\"}}\n",
	"plimsoll.yaml": `clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`,
}

// waits measures the memory and the open ports of a process whose run waits for an approval.
func (o options) waits(ctx context.Context, dir, binary string) error {
	for name, text := range asks {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	said := awaited{text: "waits for approval", heard: make(chan struct{})}
	cmd := exec.CommandContext(ctx, binary, "runbook", "run", "asks.yaml", "--cluster", "orders", "--yes")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	cmd.Env = append(os.Environ(), "PLIMSOLL_HOME="+filepath.Join(dir, "home"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-said.heard:
	case err := <-ended:
		return fmt.Errorf("the run ended: %w: %s", err, said.all.String())
	}
	err := o.look(ctx, cmd.Process.Pid)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	var exit *exec.ExitError // how one that was interrupted ends
	if failed := <-ended; failed != nil && !errors.As(failed, &exit) {
		return errors.Join(err, failed)
	}
	return err
}

// look reads a process's memory and ports every second.
func (o options) look(ctx context.Context, process int) error {
	machine, err := catalog.Machine()
	if err != nil {
		return err
	}
	accounts := probe.NewProcess("plimsoll", machine, func() int { return process })
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var memory []float64
	ports := map[string]bool{}
	for range max(o.seconds, 2) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		points, err := accounts.Read(ctx, time.Now())
		if err != nil {
			return err
		}
		for _, p := range points {
			if p.Signal == "process.memory_bytes" {
				memory = append(memory, p.Value)
			}
		}
		listeners, err := local.Listeners(process)
		if err != nil {
			return err
		}
		for _, l := range listeners {
			ports[l.String()] = true
		}
	}
	if len(memory) == 0 {
		return errors.New("the system does not say how much memory a process holds")
	}
	most := slices.Max(memory)
	fmt.Printf("While a run waits for an approval, over %d s: %.1f MB of memory at most, goal below %.0f MB: %s; %d TCP ports open, goal none: %s.\n",
		max(o.seconds, 2), most/1e6, largestIdle/1e6, met(most < largestIdle), len(ports), met(len(ports) == 0))
	return nil
}

// awaited is output in which a text is awaited.
type awaited struct {
	text  string
	heard chan struct{} // closed then

	mu  sync.Mutex
	all bytes.Buffer
	was bool
}

func (a *awaited) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all.Write(p)
	if !a.was && strings.Contains(a.all.String(), a.text) {
		a.was = true
		close(a.heard)
	}
	return len(p), nil
}
