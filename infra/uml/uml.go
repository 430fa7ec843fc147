// Package uml is an infra.Machine with a kernel of its own: user-mode Linux, which runs as an ordinary process of an ordinary user,
// without hardware virtualisation and without an image.
//
// A machine stands in one folder. A process of its own, the monitor, runs the kernel and serves its disks (infra/uml/vhost on
// infra/disk) and its network; it outlives the Plimsoll that booted the machine and carries the folder as its mark, as all that
// belongs to the machine does. The machine's root is this host's, read-only and with the rights of who booted it; what it writes lies
// in its memory and on its volumes.
package uml

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
)

// Spec is a machine to be booted. It is written into the machine's folder, where the monitor and the machine read it.
type Spec struct {
	Name    string     `json:"name"`    // its host name
	Memory  int64      `json:"memory"`  // bytes; 0: 512 MiB
	Address netip.Addr `json:"address"` // of 127.0.0.0/8: the machine has it, and its ports are forwarded to it on this host
	Kernel  Kernel     `json:"kernel"`
	Program []string   `json:"program"` // this program, and its arguments that run Run
	Shared  []string   `json:"shared"`  // folders of this host that the machine sees although they lie below one that it has for itself
	Mark    string     `json:"mark"`    // of its processes here
}

// Kernel is an unpacked kernel of user-mode Linux.
type Kernel struct {
	Version string `json:"version"` // 6.1.176
	Program string `json:"program"`
	Modules string `json:"modules"` // folder
}

// slots is how many volumes a machine can have at a time.
const slots = 24

// The files in a machine's folder.
const (
	specFile    = "machine.json"
	controlFile = "control.sock" // the monitor answers there
	guestFile   = "guest.sock"   // the machine answers there
	frameFile   = "network.sock" // the kernel hands over its frames there
	adminFile   = "admin.sock"   // and those between it and us there
	logFile     = "console.log"
)

func slotFile(i int) string { return fmt.Sprintf("v%02d.sock", i) }

// own are the folders that a machine has for itself.
var own = []string{"/run", "/tmp", "/var/tmp", "/mnt", "/dev/shm"}

func (s Spec) withDefaults() (Spec, error) {
	if s.Memory == 0 {
		s.Memory = 512 << 20
	}
	var all error
	refuse := func(format string, args ...any) { all = errors.Join(all, fmt.Errorf(format, args...)) }
	if s.Name == "" {
		refuse("a machine without a name")
	}
	if s.Memory < 64<<20 {
		refuse("%d MiB of memory, expected 64 at least", s.Memory>>20)
	}
	if !s.Address.Is4() || !s.Address.IsLoopback() || s.Address == netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
		refuse("address %s, expected one of 127.0.0.0/8 that is not 127.0.0.1", s.Address)
	}
	if len(s.Program) == 0 || !filepath.IsAbs(s.Program[0]) {
		refuse("the machine has no program to start")
	}
	for _, word := range append(s.Program, s.Kernel.Program) {
		if strings.ContainsAny(word, " \t\n\"") {
			refuse("%q: blanks and quotes are not possible on a kernel's command line", word)
		}
	}
	return s, all
}
