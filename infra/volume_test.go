package infra

import (
	"reflect"
	"testing"
)

func TestParseDevices(t *testing.T) {
	got, err := parseDevices(`device nvme0n1 2097152 vol0123456789abcdef0
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
	if _, err := parseDevices("device vda many\n"); err == nil {
		t.Error("a size that is not a number was accepted")
	}
}
