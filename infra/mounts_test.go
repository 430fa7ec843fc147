package infra

import (
	"slices"
	"testing"
)

func TestMountsAreReadAsTheKernelWritesThem(t *testing.T) {
	got := parseMounts(`22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
36 22 0:34 / /tmp/a\040folder\134x rw,nosuid - fuse.plimsoll plimsoll rw,user_id=0
broken
37 22 0:35 / /proc rw shared:5 master:2 - proc proc rw
`)
	want := []Mount{{"/", "ext4"}, {`/tmp/a folder\x`, "fuse.plimsoll"}, {"/proc", "proc"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
