package infra

import (
	"reflect"
	"strings"
	"testing"

	"plimsoll/hint"
)

func TestParseDevices(t *testing.T) {
	got, err := parseDevices(`device nvme0c0n1 2097152 vol0123456789abcdef0
hidden
device nvme0n1 2097152 vol0123456789abcdef0
device md0 2093056 3d5a9f6c:0c3f0f7e
holder dm-0
device vda 1024
holder md0
mount /dev/nvme0n1 / xfs rw 0 0
mount /dev/nvme0n1p2 /a\040b xfs rw 0 0
mount /dev/nvme0n10 /elsewhere xfs rw 0 0
mount tmpfs /tmp tmpfs rw 0 0
mount /dev/vda swap
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []BlockDevice{
		{Path: "/dev/md0", Serial: "3d5a9f6c:0c3f0f7e", Size: 2093056 * 512, Holders: []string{"dm-0"}},
		{Path: "/dev/nvme0n1", Serial: "vol0123456789abcdef0", Size: 1 << 30, Mounted: []string{"/", "/a b"}},
		{Path: "/dev/vda", Size: 1024 * 512, Holders: []string{"md0"}, Mounted: []string{"swap"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if at, there, err := WithSerial("db1", got, "vol0123456789abcdef0"); err != nil || !there || at.Path != "/dev/nvme0n1" {
		t.Errorf("a path that the kernel hides counts as a disk: %+v, %v", at, err)
	}
	copied := append(got, BlockDevice{Path: "/dev/sdz", Serial: "vol0123456789abcdef0"})
	_, there, err := WithSerial("db1", copied, "vol0123456789abcdef0")
	if err == nil || there || !strings.Contains(err.Error(), "/dev/nvme0n1 and /dev/sdz of db1 both report the serial number vol0123456789abcdef0") || hint.Of(err) == "" {
		t.Errorf("of two disks with one serial number: %v, %v", there, err)
	}
	if _, err := parseDevices("device vda many\n"); err == nil {
		t.Error("a size that is not a number was accepted")
	}
}
