package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra/disk/pace"
	"plimsoll/lab/forgetful"
	"plimsoll/watch/storage"
)

// diskTrial is a volume, what is asked of it, and what it must give.
type diskTrial struct {
	volume  storage.Volume
	scale   float64 // of its limits; 0: 1
	dry     bool    // its bucket is empty
	pattern string
	block   string
	ops     float64 // a second; 0: the throughput is the promise
	bytes   float64
}

func diskTrials() []diskTrial {
	gp2, gp3 := storage.Volume{Type: "gp2", GiB: 100}, storage.Volume{Type: "gp3", GiB: 100}
	io1, io2 := storage.Volume{Type: "io1", GiB: 200, IOPS: 1000}, storage.Volume{Type: "io2", GiB: 200, IOPS: 4000}
	fast1, fast2 := storage.Volume{Type: "io1", GiB: 400, IOPS: 8000}, storage.Volume{Type: "io2", GiB: 1000, IOPS: 64000} // their throughput ends before their operations
	return []diskTrial{
		{volume: gp2, pattern: "randread", block: "16k", ops: gp2.Burst()},
		{volume: gp2, dry: true, pattern: "randread", block: "16k", ops: gp2.Base()},
		{volume: gp2, dry: true, pattern: "randwrite", block: "16k", ops: gp2.Base()},
		{volume: gp3, pattern: "randread", block: "16k", ops: gp3.Base()},
		{volume: gp3, pattern: "randrw", block: "16k", ops: gp3.Base()},
		{volume: io1, pattern: "randread", block: "16k", ops: io1.Base()},
		{volume: io2, pattern: "randread", block: "16k", ops: io2.Base()},
		{volume: gp2, pattern: "read", block: "256k", bytes: gp2.Throughput()},
		{volume: gp3, pattern: "read", block: "256k", bytes: gp3.Throughput()},
		{volume: fast1, scale: 1.0 / 5, pattern: "read", block: "256k", bytes: fast1.Throughput() / 5},
		{volume: fast2, scale: 1.0 / 40, pattern: "write", block: "256k", bytes: fast2.Throughput() / 40},
		{volume: gp2, scale: 1.0 / 10, pattern: "randread", block: "16k", ops: gp2.Burst() / 10},
		{volume: gp3, scale: 1.0 / 10, pattern: "randwrite", block: "16k", ops: gp3.Base() / 10},
		{volume: io2, scale: 1.0 / 10, pattern: "randread", block: "16k", ops: io2.Base() / 10},
	}
}

// String names it as its row does.
func (d diskTrial) String() string {
	name := d.volume.String()
	if d.scale > 0 {
		name += fmt.Sprintf(", scale 1/%.0f", 1/d.scale)
	}
	if d.dry {
		name += ", its bucket empty"
	}
	return name
}

// diskSection holds the disks of labs to what they promise, by fio.
func diskSection(s study) (string, error) {
	if _, err := exec.LookPath("fio"); err != nil {
		return "", errors.New("the disks of labs are measured by fio, which is not here: apt-get install fio")
	}
	length := max(time.Duration(20*s.share)*time.Second, 5*time.Second)
	t := newTable("volume", "asked by fio", "promised", "measured", "off")
	worst := 0.0
	for _, d := range diskTrials() {
		ops, bytes, err := d.measure(length)
		if err != nil {
			return "", fmt.Errorf("%s, %s: %w", d, d.pattern, err)
		}
		off, promised, measured := ops/d.ops-1, fmt.Sprintf("%.0f a second", d.ops), fmt.Sprintf("%.0f a second", ops)
		if d.ops == 0 {
			off, promised, measured = bytes/d.bytes-1, fmt.Sprintf("%.0f MiB/s", d.bytes/(1<<20)), fmt.Sprintf("%.1f MiB/s", bytes/(1<<20))
		}
		worst = max(worst, off, -off)
		fmt.Fprintf(os.Stderr, "%s, %s of %s: %+.1f %%\n", d, d.pattern, d.block, 100*off)
		t.row(d.String(), d.pattern+" of "+d.block+", 32 at once", promised, measured, fmt.Sprintf("%+.1f %%", 100*off))
	}
	verdict := "That is within the goal."
	if worst > 0.03 {
		verdict = "That misses the goal."
	}
	return fmt.Sprintf(`The disks that labs give their servers (`+"`lab up --disk`, `cluster: {disk: …}`"+`), as an ordinary user, through the file layer over their data. fio, the usual
tool, reads and writes past the kernel's cache for %v each. The goal is within 3 %% of what the type promises; the largest deviation is %.1f %%. %s

%s`, length, 100*worst, verdict, t), nil
}

// measure lays a layer with the volume's limits over an empty folder, and lets fio work in it.
func (d diskTrial) measure(length time.Duration) (ops, bytes float64, err error) {
	dir, err := os.MkdirTemp("", "plimsoll-disk-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	folder, disk, state := filepath.Join(dir, "files"), filepath.Join(dir, "disk"), filepath.Join(dir, "state")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return 0, 0, err
	}
	const size = 128 << 20
	if err := os.WriteFile(filepath.Join(folder, "file"), make([]byte, size), 0o600); err != nil {
		return 0, 0, err
	}
	limits := forgetful.Disk{ID: "one", Limits: pace.Of(d.volume).Scaled(cmp.Or(d.scale, 1))}
	if d.dry {
		none := 0.0
		limits.Balance = &none
		limits.Limits.Burst.Credits = 1 // what flows in while fio begins does not count
	}
	data, err := json.Marshal(limits)
	if err == nil {
		err = os.WriteFile(disk, data, 0o600)
	}
	if err != nil {
		return 0, 0, err
	}
	layer := exec.Command(os.Args[0], "layer", folder, filepath.Join(dir, "aside"), filepath.Join(dir, "report"), disk, state)
	layer.Stderr = os.Stderr
	if err := layer.Start(); err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, layer.Process.Signal(unix.SIGTERM), layer.Wait()) }()
	if err := awaitMount(folder); err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*length+time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "fio", "--name=disk", "--filename="+filepath.Join(folder, "file"), "--size="+strconv.Itoa(size),
		"--rw="+d.pattern, "--bs="+d.block, "--direct=1", "--ioengine=libaio", "--iodepth=32", "--time_based", "--ramp_time=1",
		"--runtime="+strconv.Itoa(int(length.Seconds())), "--output-format=json").Output()
	if err != nil {
		return 0, 0, fmt.Errorf("run fio: %w", err)
	}
	return fioRates(out)
}

// fioRates are the operations and bytes a second of fio's JSON, reads and writes together.
func fioRates(out []byte) (ops, bytes float64, err error) {
	type direction struct {
		IOPS float64 `json:"iops"`
		KiB  float64 `json:"bw"`
	}
	var all struct {
		Jobs []struct{ Read, Write direction }
	}
	if err := json.Unmarshal(out, &all); err != nil || len(all.Jobs) != 1 {
		return 0, 0, fmt.Errorf("read what fio says: %w", errors.Join(err, errors.New("one job was expected")))
	}
	j := all.Jobs[0]
	return j.Read.IOPS + j.Write.IOPS, 1024 * (j.Read.KiB + j.Write.KiB), nil
}

// awaitMount waits until another file system lies on a folder.
func awaitMount(folder string) error {
	var above, at unix.Stat_t
	if err := unix.Stat(filepath.Dir(folder), &above); err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		if err := unix.Stat(folder, &at); err == nil && at.Dev != above.Dev {
			return nil
		}
	}
	return errors.New("the layer over the files did not come")
}
