//go:build linux

package uml

import (
	"net/netip"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A kernel stays on the processor that its address gives it, and neighbours have different ones.
func TestMachinesAreDealtOutToProcessors(t *testing.T) {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		t.Fatal(err)
	}
	if may.Count() < 2 {
		t.Skip("it takes two processors")
	}
	on := func(address string) (has unix.CPUSet) {
		over := make(chan error)
		go func() {
			runtime.LockOSThread() // and the thread ends with this function
			stayOnOneProcessor(netip.MustParseAddr(address))
			over <- unix.SchedGetaffinity(0, &has)
		}()
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		return has
	}
	one, two := on("127.21.9.1"), on("127.21.9.2")
	for cpu := range len(one) * 64 {
		if (one.IsSet(cpu) || two.IsSet(cpu)) && !may.IsSet(cpu) {
			t.Errorf("processor %d may not be used", cpu)
		}
	}
	if one.Count() != 1 || two.Count() != 1 || one == two {
		t.Errorf("the first machine has %d processors, the second %d", one.Count(), two.Count())
	}
	if again := on("127.21.9.1"); again != one {
		t.Error("a machine that is booted again has another processor")
	}
}
