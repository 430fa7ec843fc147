package findings

import (
	"math"
	"strings"
	"testing"

	"plimsoll/advise"
	"plimsoll/watch/storage"
)

// pinned is the incident after its bucket has run dry: 800 GiB of gp2 give 2,400 operations a second and no more, whatever is asked for.
func pinned(t *testing.T, balance float64) Input {
	t.Helper()
	in := incident(t, 1800)
	in.Memory, in.Balance, in.Volume = nil, balance, &storage.Volume{Type: "gp2", GiB: 800}
	in.Seen = &advise.Seen{Product: "MySQL", Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 2390, Low: 2380, High: 2400}, Peak: 2405}}
	in.Class = ""
	return in
}

// A volume whose bucket is empty gives what it sustains: what is observed is cut off there, the burst is over, and nothing about it is in order.
func TestAnEmptyBucketIsToldAsALimit(t *testing.T) {
	for name, c := range map[string]struct {
		balance float64
		says    string
	}{
		"known to be empty":      {0, "The burst bucket is empty, and the disk is at its limit of 2400 operations per second"},
		"nothing is known of it": {math.NaN(), "delivers exactly the 2400 operations per second that its volume sustains: its burst bucket is probably empty"},
	} {
		t.Run(name, func(t *testing.T) {
			f := finding(t, Report(pinned(t, c.balance)), "storage")
			if !f.Urgent || !strings.Contains(f.Title, c.says) || !strings.Contains(strings.Join(f.Evidence, " "), "cut off at the limit") {
				t.Errorf("%q: %q", f.Title, f.Evidence)
			}
			leave := option(t, f, "leave it")
			if e := effectOf(t, leave, "until the burst ends"); e.Then != 0 || e.High != 0 || !strings.Contains(leave.Risk, "operations wait for the disk now") {
				t.Errorf("leaving it: %+v, %s", e, leave.Risk)
			}
			if e := effectOf(t, option(t, f, "gp3 of 800 GiB"), "until the burst ends"); e.Then != advise.Forever {
				t.Errorf("gp3 has no bucket: %+v", e)
			}
		})
	}
	for name, with := range map[string]func(*Input){
		"a third of it is left":        func(in *Input) { in.Balance = 0.3 },
		"it is used by half":           func(in *Input) { in.Balance, in.Seen.Disk.IOPS.Mean, in.Seen.Disk.Peak = 0, 1200, 1300 },
		"its seconds differ":           func(in *Input) { in.Balance, in.Seen.Disk.Peak = math.NaN(), 2900 },
		"the class allows no more":     func(in *Input) { in.Class, in.Volume.GiB = "db.m5.large", 5000 },
		"it bursts from what flows in": func(in *Input) { in.Balance, in.Seen.Disk.Peak = 0, 2950 },
	} {
		in := pinned(t, 0)
		with(&in)
		if f := finding(t, Report(in), "storage"); strings.Contains(f.Title, "empty") {
			t.Errorf("%s: %q", name, f.Title)
		}
	}
}

// The disk of a lab has a part of a volume's limits: what is observed is told as the whole volume would have it, and an option is carried out there by
// one command, which can be typed.
func TestADiskOfALabIsItsVolumeInSmall(t *testing.T) {
	in := pinned(t, 0)
	in.Lab = &LabDisk{Name: "demo", Scale: 0.1}
	in.Seen.Disk = &advise.DiskUse{IOPS: advise.Figure{Mean: 239, Low: 238, High: 240}, Peak: 240.5, Bytes: 1 << 20, PeakBytes: 2 << 20}
	f := finding(t, Report(in), "storage")
	if !strings.Contains(f.Title, "at its limit of 2400 operations") || !strings.Contains(f.Evidence[0], "2390 (2380 to 2400) disk operations per second, of which 0 write; 2405 in") || !strings.Contains(strings.Join(f.Evidence, " "), "the disk of lab demo, which imitates the volume with 1/10 of its limits") {
		t.Errorf("%q: %q", f.Title, f.Evidence)
	}
	gp3 := option(t, f, "gp3 of 800 GiB with 3500 operations")
	if gp3.Do != "plimsoll lab disk demo --set gp3:800GiB:3500,scale=1/10" || !strings.Contains(gp3.Undo, "plimsoll lab disk demo --set gp2:800GiB,scale=1/10") || !strings.Contains(gp3.Risk, "changes at once") {
		t.Errorf("%s; %s; %s", gp3.Do, gp3.Undo, gp3.Risk)
	}
	in.Seen.Disk = &advise.DiskUse{IOPS: advise.Figure{Mean: 200, Low: 199, High: 201}, Peak: 205}
	if f := finding(t, Report(in), "storage"); f.Urgent || !strings.Contains(f.Title, "take 85 % of what the volume sustains") {
		t.Errorf("below its limit: %q", f.Title)
	}
}
