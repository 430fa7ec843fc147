//go:build linux

package forgetful

import (
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/infra/disk/pace"
	"plimsoll/watch/storage"
)

// limited is a folder on a disk with limits, with one file of 4 MiB.
func limited(t *testing.T, d Disk) (l *layer, file, disk, state string) {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no FUSE here: ", err)
	}
	if _, err := exec.LookPath("fusermount3"); err != nil && os.Getuid() != 0 {
		t.Skip("neither root nor fusermount3")
	}
	dir := t.TempDir()
	disk, state = filepath.Join(dir, "disk"), filepath.Join(dir, "state")
	must(t, replace(disk, d))
	l = layOn(t, dir, map[string]string{"file": string(make([]byte, 4<<20))}, disk, state)
	return l, l.at("file"), disk, state
}

// directReads reads pages past the kernel's cache with so many hands for a time, and returns how many a second.
func directReads(t *testing.T, path string, hands int, d time.Duration) float64 {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECT, 0)
	must(t, err)
	defer func() { must(t, unix.Close(fd)) }()
	var n atomic.Int64
	var all sync.WaitGroup
	until := time.Now().Add(d)
	for hand := range hands {
		all.Go(func() {
			page := aligned(16384)
			for at := int64(hand) * 16384; time.Now().Before(until); at = (at + 16384) % (4 << 20) {
				if _, err := unix.Pread(fd, page, at); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / d.Seconds()
}

// aligned is memory as a direct read wants it.
func aligned(size int) []byte {
	room := make([]byte, size+4096)
	skip := int(-uintptr(unsafe.Pointer(&room[0])) & 4095)
	return room[skip : skip+size]
}

func stateAt(t *testing.T, path string) (s DiskState) {
	t.Helper()
	must(t, readJSON(path, &s))
	return s
}

// A disk gives what its limits say, bursts as long as there are credits, takes others up while it is used, and goes on where it was.
func TestADiskWithLimits(t *testing.T) {
	half := 0.5
	slow := Disk{ID: "slow", Limits: pace.Limits{IOPS: 100, Burst: pace.Burst{IOPS: 400, Credits: 1200}}, Balance: &half}
	l, file, disk, state := limited(t, slow)
	burst := directReads(t, file, 16, time.Second)
	if math.Abs(burst/400-1) > 0.1 {
		t.Errorf("%.0f reads a second in a burst of 400", burst)
	}
	for began := time.Now(); stateAt(t, state).Credits > 1 && time.Since(began) < 10*time.Second; {
		directReads(t, file, 16, 500*time.Millisecond)
	}
	if dry := directReads(t, file, 16, 2*time.Second); math.Abs(dry/100-1) > 0.1 {
		t.Errorf("%.0f reads a second of a dry bucket, its base is 100", dry)
	}
	must(t, replace(disk, Disk{ID: "fast", Limits: pace.Limits{IOPS: 500, Burst: pace.Burst{IOPS: 600, Credits: 3000}}}))
	for began := time.Now(); stateAt(t, state).ID != "fast"; {
		if time.Since(began) > 5*time.Second {
			t.Fatal("the disk was not taken up")
		}
	}
	if s := stateAt(t, state); s.Balance > 0.1 {
		t.Errorf("a larger volume begins with the credits that there were: %+v", s)
	}
	l.finish(keep)
	left := stateAt(t, state)
	if left.Reads == 0 || left.ID != "fast" {
		t.Errorf("%+v", left)
	}
	if got := (Disk{ID: "fast", Limits: pace.Limits{IOPS: 500, Burst: pace.Burst{IOPS: 600, Credits: 3000}}}).credits(left, left.At.Add(2*time.Second)); math.Abs(got-left.Credits-1000) > 1 {
		t.Errorf("%.0f credits two seconds after %.0f", got, left.Credits)
	}
}

// A bucket is empty when the advice foretold it, from what was asked of the disk in the beginning: within a twentieth.
func TestABucketIsEmptyWhenItWasForetold(t *testing.T) {
	volume, share := storage.Volume{Type: "gp2", GiB: 100}, 0.005
	_, file, _, state := limited(t, Disk{ID: "one", Limits: pace.Of(volume).Scaled(0.1), Balance: &share})
	directReads(t, file, 16, time.Second)
	first := stateAt(t, state)
	began := first.At
	directReads(t, file, 16, time.Second)
	now := stateAt(t, state)
	bucket := volume.Bucket() // of the whole volume, under ten times the load
	bucket.Level = 10 * now.Credits
	asked := 10 * float64(now.Reads-first.Reads) / now.At.Sub(first.At).Seconds()
	left, empties := bucket.Empties(asked)
	if !empties {
		t.Fatalf("%.0f reads a second never empty %+v", asked, bucket)
	}
	foretold := now.At.Add(left)
	for s := now; s.Credits > 1; s = stateAt(t, state) {
		if s.At.Sub(foretold) > 10*time.Second {
			t.Fatalf("foretold after %v, and %.0f credits are left 10 s later", foretold.Sub(began), s.Credits)
		}
		directReads(t, file, 16, 100*time.Millisecond)
	}
	last := stateAt(t, state)
	t.Logf("foretold %v, empty after %v", foretold.Sub(began), last.At.Sub(began))
	// A busy machine asks the disk for less later on: what was asked until the end is what the advice would have had to know.
	if left, empties = bucket.Empties(10 * float64(last.Reads-now.Reads) / last.At.Sub(now.At).Seconds()); !empties {
		t.Fatalf("%d reads in %v never empty %+v", last.Reads-now.Reads, last.At.Sub(now.At), bucket)
	}
	foretold = now.At.Add(left)
	if off := float64(last.At.Sub(foretold)) / float64(foretold.Sub(began)); math.Abs(off) > 0.05 {
		t.Errorf("foretold after %v, it was empty %+.1f %% later", foretold.Sub(began), 100*off)
	}
}

// A disk is not interrupted by a signal to the process that writes: InnoDB aborts at a write that was.
func TestASignalDoesNotInterruptADisk(t *testing.T) {
	_, file, _, _ := limited(t, Disk{ID: "one", Limits: pace.Limits{IOPS: 20}})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGUSR1)
	defer signal.Stop(signals)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, process, done := unix.Gettid(), unix.Getpid(), make(chan struct{})
	var all sync.WaitGroup
	var sent int
	all.Go(func() {
		for often := time.NewTicker(time.Millisecond); ; sent++ {
			select {
			case <-done:
				often.Stop()
				return
			case <-often.C:
				if err := unix.Tgkill(process, thread, unix.SIGUSR1); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	// A log is written so: not past the kernel's cache, whose own requests are the ones that a signal can interrupt.
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_SYNC, 0)
	must(t, err)
	page, began := make([]byte, 512), time.Now()
	const writes = 20
	for range writes {
		if _, err := unix.Pwrite(fd, page, 0); err != nil {
			t.Error("write: ", err)
		}
	}
	took := time.Since(began)
	close(done)
	all.Wait()
	must(t, unix.Close(fd))
	if sent == 0 {
		t.Error("no signal was sent")
	}
	if took < 800*time.Millisecond {
		t.Errorf("%d writes took %v of a disk of 20 a second: a signal let them through early", writes, took)
	}
}

// What is written and not synced asks nothing of the disk until it is.
func TestWritesAreAskedOfTheDiskWhenTheyAreSynced(t *testing.T) {
	_, file, _, _ := limited(t, Disk{ID: "one", Limits: pace.Limits{IOPS: 10}})
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	began := time.Now()
	for i := range 20 {
		_, err := f.WriteAt([]byte("x"), int64(i))
		must(t, err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("20 small writes took %v before they were synced", took)
	}
	began = time.Now()
	for i := range 10 {
		_, err := f.WriteAt([]byte("y"), int64(i))
		must(t, err)
		must(t, f.Sync())
	}
	if took := time.Since(began); took < 700*time.Millisecond {
		t.Errorf("10 syncs took %v at 10 requests a second", took)
	}
}
