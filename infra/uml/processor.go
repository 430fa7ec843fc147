//go:build linux

package uml

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// stayOnOneProcessor keeps this thread, and what it starts, on one of the processors that it may use. A machine has one processor, but
// its kernel and each of its programs are processes of this host, which wait for one another at every system call and page fault: on two
// processors each of these steps wakes the other one. Machines are dealt out to processors by their addresses. Where the host refuses,
// the machine is slower.
func stayOnOneProcessor(of netip.Addr) {
	var may, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil || may.Count() < 2 {
		return
	}
	address := of.As4()
	skip := int(address[3]) % may.Count()
	for cpu := 0; ; cpu++ {
		if !may.IsSet(cpu) {
			continue
		}
		if skip == 0 {
			one.Set(cpu)
			break
		}
		skip--
	}
	_ = unix.SchedSetaffinity(0, &one)
}
