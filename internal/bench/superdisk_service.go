package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
	"plimsoll/internal/poll"
	"plimsoll/superdisk"
)

// What the service feels of a copy, of which the network leg's throughput is the bottleneck, and of a look every two seconds.
const (
	slowThroughput = 32 << 20 // bytes a second of the network leg
	leastBound     = 80 * time.Millisecond
	slack          = 2
	copyFloor      = 1 << 20
	lookPairs      = 5
	looksInARow    = 20
)

// reading asks the array for a page at random, past the page cache, twenty times a second, and writes how many milliseconds each took from
// when it was due.
const reading = `import os, mmap, random, time
f = os.open("` + mounted + `/f", os.O_RDONLY | os.O_DIRECT)
pages, page = os.fstat(f).st_size // 4096, mmap.mmap(-1, 4096)
due = time.monotonic()
with open("/run/reads.log", "w", buffering=1) as log:
    while not os.path.exists("/run/read-enough"):
        os.preadv(f, [page], random.randrange(pages) * 4096)
        now = time.monotonic()
        log.write("%.3f\n" % ((now - due) * 1e3))
        due = max(due + 0.05, now - 0.05)
        time.sleep(max(0, due - time.monotonic()))
`

// reader reads until it is told that it is enough.
type reader struct {
	disked
	process infra.Process
}

func (m disked) read(ctx context.Context) (reader, error) {
	if err := m.WriteFile(ctx, "/run/read.py", []byte(reading), 0o600); err != nil {
		return reader{}, err
	}
	if _, err := m.sh(ctx, "rm -f /run/reads.log /run/read-enough"); err != nil {
		return reader{}, err
	}
	p, err := m.Start(ctx, infra.Command{Path: "python3", Args: []string{"/run/read.py"}, Log: "/run/read.out", Mark: "/reader"})
	return reader{m, p}, err
}

func (r reader) end(ctx context.Context) error {
	_, err := r.sh(ctx, "touch /run/read-enough")
	return errors.Join(err, r.process.Wait(ctx))
}

// p99 is that of the reads from the one of that number on, of the last hundred if it is negative; and how many there are by now.
func (r reader) p99(ctx context.Context, from int) (p99 time.Duration, count int, err error) {
	said, err := r.sh(ctx, "cat /run/reads.log")
	if err != nil {
		return 0, 0, err
	}
	var took []float64
	for line := range strings.FieldsSeq(said) {
		ms, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return 0, 0, err
		}
		took = append(took, ms)
	}
	count = len(took)
	if from < 0 {
		from = max(0, count-100)
	}
	if took = took[from:]; len(took) < 5 {
		return 0, count, errors.New("too few reads")
	}
	slices.Sort(took)
	return time.Duration(took[len(took)*99/100] * float64(time.Millisecond)), count, nil
}

// governed rebuilds a local leg twice while a reader has only the network leg: as fast as it goes, and held to a bound of the reader's p99.
func (s *disks) governed(ctx context.Context) (err error) {
	m, err := s.boot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Kill(ctx)) }()
	_, local, err := s.volume(ctx, m)
	if err != nil {
		return err
	}
	_, network, err := s.volumeLike(ctx, m, infra.VolumeSpec{Size: legSize, Throughput: slowThroughput})
	if err != nil {
		return err
	}
	if err := s.filled(ctx, m, local, network, 50); err != nil {
		return err
	}
	fmt.Printf("\n| rebuild of a local leg, the network leg has %d MiB/s and answers all reads | p99 of reads before | bound | p99 of reads meanwhile | checks over the bound | slowed | copied at | goal |\n|---|---|---|---|---|---|---|---|\n", slowThroughput>>20)
	for _, held := range []bool{false, true} {
		if err := s.rebuildUnderReads(ctx, m, local, held); err != nil {
			return err
		}
	}
	return nil
}

// filled makes an array of these devices, mounts it and fills it so far, in percent.
func (s *disks) filled(ctx context.Context, m disked, local, network string, full int) error {
	err := superdisk.Create(ctx, m, superdisk.Design{Name: arrayName, Local: local, Network: network, Chunk: 4 << 20, Reserve: 1 << 20})
	if err == nil {
		err = superdisk.FormatBlank(ctx, m, superdisk.Path(arrayName))
	}
	if err == nil {
		err = superdisk.Mount(ctx, m, superdisk.Path(arrayName), mounted)
	}
	if err == nil {
		_, err = m.sh(ctx, fmt.Sprintf(`all=$(stat -f -c '%%b' %[1]s); size=$(stat -f -c '%%S' %[1]s); free=$(stat -f -c '%%f' %[1]s)
n=$(( (all * %[2]d / 100 - (all - free)) * size / 1048576 )); [ $n -lt 1 ] || dd if=/dev/urandom of=%[1]s/f bs=1M count=$n status=none; sync`, mounted, full))
	}
	return err
}

func (s *disks) rebuildUnderReads(ctx context.Context, m disked, local string, held bool) error {
	err := superdisk.Fail(ctx, m, superdisk.Path(arrayName), local)
	if err == nil {
		err = superdisk.Remove(ctx, m, superdisk.Path(arrayName), local)
	}
	if err == nil {
		err = superdisk.Wipe(ctx, m, local)
	}
	if err != nil {
		return err
	}
	r, err := m.read(ctx)
	if err != nil {
		return err
	}
	if err := poll.Rest(ctx, 12*time.Second); err != nil {
		return err
	}
	calm, before, err := r.p99(ctx, 0)
	if err != nil {
		return errors.Join(err, r.end(ctx))
	}
	bound := max(slack*calm, leastBound)
	job := superdisk.Rebuild{Machine: m, Array: arrayName, Target: local, Role: superdisk.Local, Program: superdisk.Program, Mark: s.folder}
	if held {
		job.Governor = &superdisk.Governor{Bound: bound, Floor: copyFloor, Ceiling: 1 << 30}
		job.Meter = func(ctx context.Context) (time.Duration, error) {
			p99, _, err := r.p99(ctx, -1)
			return p99, err
		}
	}
	done, err := job.Run(ctx, nil)
	if err != nil {
		return errors.Join(err, r.end(ctx))
	}
	meanwhile, _, err := r.p99(ctx, before)
	if err = errors.Join(err, r.end(ctx)); err != nil {
		return err
	}
	how, over, slowed, goal := "as fast as it goes", "", "", ""
	if g := done.Governed; g != nil {
		how, over, slowed = "governed", fmt.Sprintf("%d of %d", g.Over, g.Looks), fmt.Sprintf("%d times, to %.1f MiB/s; %d times at the floor already", g.Slowed, float64(g.Lowest)/(1<<20), g.AtFloor)
		goal = "p99 within the bound: " + met(meanwhile <= bound)
	}
	fmt.Printf("| %s | %.1f ms | %.0f ms | %.1f ms | %s | %s | %.1f MiB/s | %s |\n", how, milliseconds(calm), milliseconds(bound), milliseconds(meanwhile), over, slowed,
		float64(done.Seeded>>20)/done.Took.Seconds(), goal)
	return nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// superDiskStatus looks at an array of a machine that does nothing else, as a probe does and as the status does, which asks each leg for a page
// too; then compares how much is written and synced while it is looked at every two seconds, and while it is not, in turns.
func superDiskStatus(ctx context.Context, _ options) (err error) {
	s, err := newDisks(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	m, err := s.boot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Kill(ctx)) }()
	if _, err := s.array(ctx, m, 10); err != nil {
		return err
	}
	fmt.Printf("| on a machine with one processor, %d times | one takes | and of the host's processor time |\n|---|---|---|\n", looksInARow)
	for _, probing := range []bool{false, true} {
		if err := s.lookCosts(ctx, m, probing); err != nil {
			return err
		}
	}
	return s.looked(ctx, m)
}

// status is what is known of the machine's arrays from look to look.
type status struct {
	disked
	watch superdisk.Watch
}

// look reads the status as a probe does, or probes the legs too, as plimsoll superdisk status does.
func (s *status) look(ctx context.Context, probing bool) error {
	seen, err := superdisk.Inspect(ctx, s.disked)
	if err != nil {
		return err
	}
	s.watch.See(&seen)
	if !probing {
		return nil
	}
	return seen.PingSilent(ctx, s.disked)
}

func (s *disks) lookCosts(ctx context.Context, m disked, probing bool) error {
	at := status{disked: m}
	if err := at.look(ctx, probing); err != nil {
		return err
	}
	used, err := s.processorTime(ctx, m)
	if err != nil {
		return err
	}
	begun := time.Now()
	for range looksInARow {
		if err := at.look(ctx, probing); err != nil {
			return err
		}
	}
	took := time.Since(begun)
	after, err := s.processorTime(ctx, m)
	if err != nil {
		return err
	}
	what := "a look"
	if probing {
		what = "a look, and a page of each leg"
	}
	fmt.Printf("| %s | %.1f ms | %.1f ms |\n", what, milliseconds(took)/looksInARow, milliseconds(after-used)/looksInARow)
	return nil
}

// processorTime is what the processes of the host that are this machine have used, with those of them that have ended. They are one session.
func (s *disks) processorTime(ctx context.Context, m disked) (sum time.Duration, err error) {
	const session, firstTime, lastTime = 3, 11, 14 // of proc(5), from the state on: session; utime, stime, cutime and cstime
	monitor, err := s.host.Find(ctx, filepath.Join(s.folder, m.name))
	if err != nil {
		return 0, err
	}
	if len(monitor) == 0 {
		return 0, fmt.Errorf("%s has no process on this host", m.name)
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	wanted := ""
	times := map[string]time.Duration{} // by session
	for _, path := range stats {
		stat, err := s.host.ReadFile(ctx, path)
		if err != nil {
			continue // it has ended, and its parent's counters have its time
		}
		id, rest, _ := strings.Cut(string(stat), " ")
		words := strings.Fields(rest[strings.LastIndex(rest, ")")+1:])
		if id == strconv.Itoa(monitor[0].ID()) {
			wanted = words[session]
		}
		for _, word := range words[firstTime : lastTime+1] {
			ticks, err := strconv.Atoi(word)
			if err != nil {
				return 0, err
			}
			times[words[session]] += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return times[wanted], nil
}

func (s *disks) looked(ctx context.Context, m disked) error {
	var ratios []float64
	var took time.Duration
	looks := 0
	at := status{disked: m}
	for range lookPairs {
		var rates [2]float64
		for i := range rates {
			var err error
			rates[i], err = m.writes(ctx, func() error {
				for until := time.Now().Add(6 * time.Second); time.Now().Before(until); {
					if i == 1 {
						begun := time.Now()
						if err := at.look(ctx, true); err != nil {
							return err
						}
						took, looks = took+time.Since(begun), looks+1
					}
					if err := poll.Rest(ctx, 2*time.Second); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		ratios = append(ratios, rates[1]/rates[0])
	}
	slices.Sort(ratios)
	fmt.Printf("\n| synced writes a second while the status is read every two seconds, beside without, %d pairs of 6 s | median %.2f (%.2f to %.2f) | one look took %.0f ms |\n|---|---|---|\n",
		lookPairs, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], milliseconds(took)/float64(looks))
	return nil
}

// writes is how many writes a second were synced, one after another, while something was done.
func (m disked) writes(ctx context.Context, do func() error) (rate float64, err error) {
	const writing = `rm -f /run/enough; while [ ! -e /run/enough ]; do dd if=/dev/zero of=` + mounted + `/z bs=4k count=1 conv=fsync,notrunc status=none; echo; done >/run/writes.log`
	if _, err := m.sh(ctx, "rm -f /run/writes.log"); err != nil {
		return 0, err
	}
	w, err := m.Start(ctx, infra.Command{Path: "sh", Args: []string{"-c", writing}, Log: "/run/writer.log", Mark: "/writer"})
	if err != nil {
		return 0, err
	}
	if _, err := m.sh(ctx, `while [ $(wc -l </run/writes.log 2>/dev/null || echo 0) -lt 5 ]; do sleep 0.1; done`); err != nil {
		return 0, err
	}
	count := func() (int, error) {
		said, err := m.sh(ctx, "wc -l </run/writes.log")
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(said)
	}
	first, err := count()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	err = do()
	last, counted := count()
	took := time.Since(begun)
	_, ended := m.sh(ctx, "touch /run/enough")
	return float64(last-first) / took.Seconds(), errors.Join(err, counted, ended, w.Wait(ctx))
}
