package labcmd

import (
	"testing"

	"plimsoll/lab/forgetful"
)

// A volume without a burst bucket, as gp3 is, is not shown with a full one.
func TestAVolumeWithoutABucketHasNone(t *testing.T) {
	for want, s := range map[string]forgetful.DiskState{
		"none":   {Balance: 1, IOPS: 300},
		"100 %":  {Balance: 1, Credits: 540_000, IOPS: 300},
		"2.50 %": {Balance: 0.025, Credits: 13_500, IOPS: 300},
		"0 %":    {IOPS: 60},
	} {
		if got := bucketOf(s); got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
}
