package sshtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Host is a network namespace of its own on this machine, which has one link to it: as far as the network goes, another machine.
type Host struct {
	Address string // its own
	Here    string // this machine's, at the other end of its link
	name    string // of the namespace; "": this machine
	link    string // this machine's end
}

// Hosts makes some, which go with the test. That takes root and iproute2.
func Hosts(t testing.TB, number int) (all []Host) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: each loader has a network namespace of its own")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("ip is not here: install the package iproute2")
	}
	for n := range number {
		place := fmt.Sprintf("198.18.%d.", os.Getpid()%250) // of the range for tests of networks: RFC 2544
		h := Host{Address: place + fmt.Sprint(4*n+2), Here: place + fmt.Sprint(4*n+1), name: fmt.Sprintf("plimsoll-%d-%d", os.Getpid(), n), link: fmt.Sprintf("pl%d-%d", os.Getpid(), n)}
		if n == 0 {
			if out, err := exec.Command("ip", "netns", "add", h.name).CombinedOutput(); err != nil {
				t.Skipf("no network namespace can be made here: %v: %s", err, out)
			}
		} else {
			ip(t, "netns add "+h.name)
		}
		t.Cleanup(func() { ip(t, "netns del "+h.name) })
		ip(t, "link add "+h.link+" type veth peer name eth0 netns "+h.name)
		t.Cleanup(func() { ip(t, "link del "+h.link) })
		ip(t, "addr add "+h.Here+"/30 dev "+h.link)
		ip(t, "link set "+h.link+" up")
		ip(t, "-n "+h.name+" addr add "+h.Address+"/30 dev eth0")
		ip(t, "-n "+h.name+" link set lo up")
		ip(t, "-n "+h.name+" link set eth0 up")
		ip(t, "-n "+h.name+" route add default via "+h.Here)
		all = append(all, h)
	}
	return all
}

// Start starts a server on the host.
func (h Host) Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	return start(t, h, settings)
}

// Unplug takes the host off the network: nothing arrives, and nobody is told.
func (h Host) Unplug(t testing.TB) {
	t.Helper()
	ip(t, "link set "+h.link+" down")
}

// enter begins a command line that is run there.
func (h Host) enter() []string {
	if h.name == "" {
		return nil
	}
	return []string{"ip", "netns", "exec", h.name}
}

func ip(t testing.TB, line string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
		t.Errorf("ip %s: %v: %s", line, err, out)
	}
}
