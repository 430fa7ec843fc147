package storage

import "testing"

// The least and the most that AWS sells of each type, by its documentation of CreateDBInstance and CreateVolume.
func TestWhatIsSold(t *testing.T) {
	for _, c := range []struct {
		v    Volume
		sold bool
	}{
		{Volume{Type: "io2", GiB: 80, IOPS: 1000, Managed: true}, false},
		{Volume{Type: "io2", GiB: 100, IOPS: 400, Managed: true}, false},
		{Volume{Type: "io2", GiB: 100, IOPS: 1000, Managed: true}, true},
		{Volume{Type: "io1", GiB: 99, IOPS: 1000, Managed: true}, false},
		{Volume{Type: "io1", GiB: 100, IOPS: 5000, Managed: true}, true},
		{Volume{Type: "io1", GiB: 100, IOPS: 5001, Managed: true}, false},
		{Volume{Type: "gp2", GiB: 19, Managed: true}, false},
		{Volume{Type: "gp3", GiB: 20, Managed: true}, true},
		{Volume{Type: "gp3", GiB: 400, IOPS: 64001, Managed: true}, false},
		{Volume{Type: "gp3", GiB: 1}, true},
		{Volume{Type: "gp3", GiB: 8, IOPS: 4000}, true},
		{Volume{Type: "gp3", GiB: 8, IOPS: 4001}, false},
		{Volume{Type: "io2", GiB: 3, IOPS: 100}, false},
		{Volume{Type: "io2", GiB: 4, IOPS: 100}, true},
		{Volume{Type: "io2", GiB: 4, IOPS: 4100}, false},
		{Volume{Type: "local", GiB: 1}, true},
	} {
		if err := c.v.Sold(); (err == nil) != c.sold {
			t.Errorf("%+v: %v", c.v, err)
		}
	}
}
