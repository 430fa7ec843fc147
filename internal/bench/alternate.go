package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// outcome is one run of one of the two.
type outcome struct {
	perSecond  float64
	operations float64
	cpu        float64 // µs per operation of the process that is looked at: the client's unless it is said otherwise
	rss        int64   // bytes at most; 0 where it was not looked at
}

// alternate runs the peer and Plimsoll in turn, each first in every other pair, and prints every pair.
func (o options) alternate(what, peer, operation string, theirs, ours func() (outcome, error)) error {
	fmt.Printf("%s, %d s a run\n\n| pair | %s %ss/s | plimsoll %ss/s | ratio | %s µs | plimsoll µs | ratio |\n|---|---|---|---|---|---|---|\n",
		what, o.seconds, peer, operation, operation, peer)
	var throughput, cpu, absolute []float64
	var most int64
	for pair := range o.pairs {
		first, second := theirs, ours
		if pair%2 == 1 {
			first, second = ours, theirs
		}
		a, err := first()
		if err != nil {
			return err
		}
		b, err := second()
		if err != nil {
			return err
		}
		if pair%2 == 1 {
			a, b = b, a
		}
		throughput, cpu, absolute = append(throughput, b.perSecond/a.perSecond), append(cpu, b.cpu/a.cpu), append(absolute, b.cpu)
		most = max(most, b.rss)
		fmt.Printf("| %d | %.0f | %.0f | %.3f | %.2f | %.2f | %.3f |\n", pair+1, a.perSecond, b.perSecond, b.perSecond/a.perSecond, a.cpu, b.cpu, b.cpu/a.cpu)
	}
	fmt.Printf("| median | | | **%.3f** | | %.2f | **%.3f** |\n\n", median(throughput), median(absolute), median(cpu))
	if most > 0 { // not every section measures it
		fmt.Printf("Memory of plimsoll: %d MiB at most.\n\n", most>>20)
	}
	return nil
}

// used is the processor time of a finished command.
func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func said(name string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s: %w: %s", name, err, exit.Stderr)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
