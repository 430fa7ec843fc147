package superdisk_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/machinetest"
	"plimsoll/superdisk"
)

// TestADiskThatIsNotFreeIsNoLeg has a real kernel use disks in the ways in which they are used. Each refusal says which, and what
// to do, and leaves the disk as it is.
func TestADiskThatIsNotFreeIsNoLeg(t *testing.T) {
	t.Parallel()
	host := machinetest.New(t, 33)
	g := guest{host.Boot(t, "one"), t}
	volume := func() string { return g.device(host.Volume(t, 320<<20, "one")) }
	free := volume()
	refused := func(device, why string) {
		t.Helper()
		before := g.sh("head -c 1M " + device + " | sha256sum")
		err := superdisk.Create(t.Context(), g, superdisk.Design{Name: "new", Local: free, Network: device, Chunk: 1 << 20})
		var advised interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), why) || !errors.As(err, &advised) || advised.Hint() == "" {
			t.Errorf("got %v, want a refusal with a hint: %s", err, why)
		}
		if after := g.sh("head -c 1M " + device + " | sha256sum"); after != before {
			t.Errorf("%s was changed: %s", device, why)
		}
	}

	used := volume()
	g.sh("mkfs.xfs -q " + used)
	refused(used, "it holds xfs")
	g.sh("mkdir -p /run/used; mount " + used + " /run/used")
	refused(used, "it is mounted on /run/used")
	g.sh("umount /run/used; wipefs -qa " + used + "; mkswap " + used + " >/dev/null; swapon " + used)
	refused(used, "it is used as swap")
	g.sh("swapoff " + used + "; wipefs -qa " + used + "; echo 'label: gpt\nsize=64M' | sfdisk -q " + used)
	refused(used, "it has a partition")

	member := volume()
	g.sh("mdadm --create /dev/md/other --run --level=1 --raid-devices=2 --metadata=1.2 " + member + " missing")
	refused(member, "it is in use by md")
	g.sh("mdadm --stop /dev/md/other")
	refused(member, "it is a leg of array")

	_, err := superdisk.Resolve(t.Context(), g, "vol-0123456789abcdef0")
	if err == nil || !strings.Contains(err.Error(), "is not on one") {
		t.Errorf("a volume that is not there: %v", err)
	}

	// A disk of the machine that is full is told as that, not as a line that broke.
	g.sh("mkdir -p /run/full; mount -t tmpfs -o size=64k tmpfs /run/full")
	if err := g.WriteFile(t.Context(), "/run/full/large", make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v, want ENOSPC", err)
	}
	if got := g.sh("ls -A /run/full | wc -l"); got != "0" {
		t.Errorf("a write that failed left %s files", got)
	}
	g.sh("mkdir -p /run/from; head -c 1M /dev/zero >/run/from/large")
	err = superdisk.CopyFiles(t.Context(), g, "/run/from", "/run/full", "/copy")
	var advised interface{ Hint() string }
	if !errors.As(err, &advised) || !strings.Contains(advised.Hint(), "the file system at /run/full on one is full") {
		t.Errorf("a copy that does not fit: %v, want a hint that says so", err)
	}
}
