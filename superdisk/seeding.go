package superdisk

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/infra"
	"plimsoll/superdisk/seed"
)

// Seeding, step by step. While an array is degraded, md records in the bitmap every chunk that is written and forgets none.
//
//  1. A mark takes the place of the new leg's superblock: from here on nobody takes it for a leg, whatever happens, and we know it again.
//  2. The superblock that it would have, were it in the array now, is made of the serving leg's and kept in memory of the machine.
//  3. What the file system uses is copied past the page cache. What is written meanwhile is in the bitmap.
//  4. That superblock is put on the new leg, and md takes it back as one that left at the moment of step 2.
//
// A machine that starts anew in the middle finds a disk that is no leg, and no record of a seeding: it begins again.

// seedProgress is what is kept on the machine, in a folder that does not survive its start.
type seedProgress struct {
	Array  string `json:"array"`
	Boot   string `json:"boot"`
	Target string `json:"target"`
	Mark   string `json:"mark"`       // what the target is marked with
	Super  []byte `json:"superblock"` // of the new leg
	Events int64  `json:"events"`     // the bitmap's EventsCleared at step 2: another means that it was made anew
	Passed int64  `json:"passed"`     // all that is used below it is copied
	Seed   Seed   `json:"seed"`       // how far it is, for who looks
}

func progressFile(uuid string) string {
	return ownFolder + strings.ReplaceAll(uuid, ":", "-") + ".json"
}

var errNoProgress = errors.New("no seeding is under way")

// progress is of a seeding that was begun and can go on; errNoProgress if there is none.
func (r Rebuild) progress(ctx context.Context, c Choice) (seedProgress, error) {
	var p seedProgress
	data, err := r.Machine.ReadFile(ctx, progressFile(c.array.UUID))
	if errors.Is(err, fs.ErrNotExist) {
		return p, errNoProgress
	}
	if err != nil {
		return p, err
	}
	if json.Unmarshal(data, &p) != nil || p.Array != c.array.UUID || p.Target != r.Target || len(p.Super) != SuperblockSize {
		return p, errNoProgress
	}
	f, err := look(ctx, r.Machine)
	if err != nil {
		return p, err
	}
	bitmap, err := ReadBitmap(ctx, r.Machine, c.source.Device, c.super)
	if err != nil {
		return p, err
	}
	if f.line("/proc/sys/kernel/random/boot_id") != p.Boot || bitmap.EventsCleared != p.Events || c.target.Array != "" {
		return p, errNoProgress
	}
	marked, err := r.marked(ctx, p)
	if err == nil && !marked {
		err = errNoProgress
	}
	return p, err
}

// mark takes the place of a superblock on a leg that is being filled: another disk may come to have the same device name.
func (p seedProgress) mark() []byte {
	page := make([]byte, SuperblockSize)
	copy(page, "plimsoll is filling this leg of a Super Disk; its data is incomplete "+p.Mark)
	return page
}

// marked says whether the target is the disk that the seeding was begun on.
func (r Rebuild) marked(ctx context.Context, p seedProgress) (bool, error) {
	page, err := readDevice(ctx, r.Machine, r.Target, SuperblockOffset, SuperblockSize)
	return err == nil && bytes.Equal(page, p.mark()), err
}

func (r Rebuild) keep(ctx context.Context, p seedProgress) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := r.Machine.WriteFile(ctx, progressFile(p.Array), data, 0o600); err != nil {
		return noRoom(r.Machine, path.Dir(progressFile(p.Array)), fmt.Errorf("record the progress of the copy: %w", err))
	}
	return nil
}

func (r Rebuild) seed(ctx context.Context, c Choice, done *Rebuilt, tell func(float64, string)) error {
	file := progressFile(c.array.UUID)
	if err := r.Machine.MakeDir(ctx, path.Dir(file)); err != nil {
		return err
	}
	release, err := r.Machine.Lock(ctx, file+".lock")
	if err != nil {
		return fmt.Errorf("lock the rebuild of %s: %w", c.array.Label(), err)
	}
	defer func() { _ = release() }()
	p, err := r.progress(ctx, c)
	if errors.Is(err, errNoProgress) {
		p, err = r.begin(ctx, c)
	}
	if err != nil {
		return err
	}
	if err := r.copyUsed(ctx, c, &p, done, tell); err != nil {
		return err
	}
	return r.finish(ctx, c, p, done)
}

// begin does steps 1 and 2.
func (r Rebuild) begin(ctx context.Context, c Choice) (seedProgress, error) {
	p := seedProgress{Array: c.array.UUID, Target: r.Target, Mark: rand.Text()}
	if err := writePage(ctx, r.Machine, r.Target, SuperblockOffset, p.mark()); err != nil {
		return p, err
	}
	f, err := look(ctx, r.Machine)
	if err != nil {
		return p, err
	}
	slot := 0
	for i, filled := range c.super.Filled() {
		if !filled {
			slot = i
		}
	}
	var device [16]byte
	_, _ = rand.Read(device[:]) // never fails
	twin, err := c.super.Twin(slot, device)
	if err != nil {
		return p, err
	}
	bitmap, err := ReadBitmap(ctx, r.Machine, c.source.Device, c.super)
	if err != nil {
		return p, err
	}
	if twin.Events() < bitmap.EventsCleared {
		return p, fmt.Errorf("the bitmap of %s was created after its superblock was written", c.array.Label())
	}
	p.Boot, p.Super, p.Events = f.line("/proc/sys/kernel/random/boot_id"), twin.Bytes(), bitmap.EventsCleared
	return p, r.keep(ctx, p)
}

// howOften the progress of a copy is kept.
const howOften = 2 * time.Second

// copyUsed does step 3.
func (r Rebuild) copyUsed(ctx context.Context, c Choice, p *seedProgress, done *Rebuilt, tell func(float64, string)) error {
	conversing, talks := r.Machine.(infra.Conversing)
	if !talks {
		return fmt.Errorf("a program on %s takes no input while it runs", r.Machine.Name())
	}
	program, err := r.Program(ctx, r.Machine)
	if err != nil {
		return err
	}
	program.Mark = r.Mark
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	talk, err := conversing.Talk(ctx, program)
	if err != nil {
		return fmt.Errorf("start the copy on %s: %w", r.Machine.Name(), err)
	}
	order := seed.Order{Mount: c.array.Mount, Source: c.source.Device, Target: r.Target, Offset: c.super.DataOffset(), From: p.Passed, Rate: r.firstRate()}
	var writing sync.Mutex
	var limit, copied atomic.Int64
	limit.Store(order.Rate)
	say := func(v any) error {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		writing.Lock()
		defer writing.Unlock()
		_, err = talk.Write(append(line, '\n'))
		return err
	}
	if err := say(order); err != nil {
		return errors.Join(err, talk.Close())
	}
	governing, stop := context.WithCancel(ctx)
	wait := r.govern(governing, copied.Load, func(rate int64) error {
		limit.Store(rate)
		return say(seed.Pace{Rate: rate})
	})
	last, err := r.hear(ctx, talk, p, &limit, &copied, tell)
	stop()
	wait()
	if ended := talk.Close(); err == nil && last.Error == "" && !last.Done {
		err = ended
	}
	done.Used, done.Seeded = last.Used, last.Copied
	if !last.Done { // so that it goes on from here; what cannot be kept is copied again
		_ = r.keep(context.WithoutCancel(ctx), *p)
	}
	switch {
	case last.Error != "":
		return fmt.Errorf("copy to %s: %s", r.Target, last.Error)
	case err != nil:
		return fmt.Errorf("copy to %s: %w", r.Target, err)
	case !last.Done:
		return fmt.Errorf("copy to %s: the program ended before its work was done", r.Target)
	}
	return nil
}

// unlimited is the rate of a copy that nothing holds back.
const unlimited = math.MaxInt64 >> 8

func (r Rebuild) firstRate() int64 {
	switch {
	case r.Governor != nil && r.Meter != nil:
		return r.Governor.Rate()
	case r.Rate > 0:
		return r.Rate
	}
	return unlimited
}

// seen is how a copy stands by its report, and before it by the last that was kept so long ago.
func (r Rebuild) seen(before Seed, report seed.Report, limit int64, ago time.Duration) Seed {
	s := Seed{Done: max(0, report.Used-report.Left), Total: report.Used, Rate: before.Rate, Limit: limit}
	if moved := s.Done - before.Done; before.Total > 0 && moved >= 0 && ago > 0 {
		s.Rate = int64(float64(moved) / ago.Seconds())
	}
	if limit == unlimited {
		s.Limit = 0
	}
	if r.Governor != nil && r.Meter != nil {
		s.Floor, s.Ceiling, s.Bound = r.Governor.Floor, r.Governor.Ceiling, r.Governor.Bound
	}
	return s
}

// hear follows the copy's reports to its last one, and keeps how far it is.
func (r Rebuild) hear(ctx context.Context, from io.Reader, p *seedProgress, limit, copied *atomic.Int64, tell func(float64, string)) (last seed.Report, err error) {
	lines := bufio.NewScanner(from)
	kept, begun := time.Now(), false
	for lines.Scan() {
		var report seed.Report
		if err := json.Unmarshal(bytes.TrimSpace(lines.Bytes()), &report); err != nil {
			return last, fmt.Errorf("read the progress of the copy: %w", err)
		}
		last = report
		if last.Error != "" || last.Done {
			break
		}
		p.Passed = last.Passed
		copied.Store(last.Copied)
		if !begun {
			begun, p.Seed = true, r.seen(Seed{}, last, limit.Load(), 0)
		}
		if ago := time.Since(kept); ago > howOften {
			p.Seed = r.seen(p.Seed, last, limit.Load(), ago)
			if err := r.keep(ctx, *p); err != nil {
				return last, err
			}
			kept = time.Now()
		}
		if tell != nil {
			all := last.Copied + last.Left
			tell(float64(last.Copied)/float64(max(1, all)), fmt.Sprintf("copied %d of %d MiB that are in use", last.Copied>>20, all>>20))
		}
	}
	return last, lines.Err()
}

// finish does step 4. What the program has copied is on disk by now.
func (r Rebuild) finish(ctx context.Context, c Choice, p seedProgress, done *Rebuilt) error {
	super, err := ParseSuperblock(p.Super)
	if err != nil {
		return err
	}
	// The list of bad blocks is empty when it is all ones. md writes the bitmap to the new leg itself.
	if at, size := super.badBlockLog(); size > 0 {
		if err := writePage(ctx, r.Machine, r.Target, at, bytes.Repeat([]byte{0xff}, int(size))); err != nil {
			return err
		}
	}
	s, err := Inspect(ctx, r.Machine)
	if err != nil {
		return err
	}
	now, there := s.Find(p.Array)
	bitmap, err := ReadBitmap(ctx, r.Machine, c.source.Device, c.super)
	if err != nil {
		return err
	}
	if !there || s.Boot != p.Boot || now.Degraded == 0 || bitmap.EventsCleared != p.Events {
		return errors.Join(fmt.Errorf("array %s was restarted while the leg was copied: start the rebuild again", c.array.Label()), r.forget(ctx, p.Array))
	}
	if marked, err := r.marked(ctx, p); err != nil || !marked {
		return errors.Join(err, fmt.Errorf("%s is not the disk that was filled: start the rebuild again", r.Target), r.forget(ctx, p.Array))
	}
	done.Tail = r.written(ctx)
	if err := writePage(ctx, r.Machine, r.Target, SuperblockOffset, super.Bytes()); err != nil {
		return err
	}
	err = r.forget(ctx, p.Array)
	if err == nil {
		err = ReAdd(ctx, r.Machine, c.array.Device, r.Target, r.Role)
	}
	if err != nil {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // it may be the context's end that cut it off
		defer cancel()
		return errors.Join(err, Wipe(clean, r.Machine, r.Target), r.forget(clean, p.Array))
	}
	return nil
}

// forget removes what is kept of a seeding, before md takes a leg: once the array is whole, nobody would look for it.
func (r Rebuild) forget(ctx context.Context, uuid string) error {
	return r.Machine.Remove(ctx, progressFile(uuid))
}

// written is how many bytes were written to the target since the machine started, as far as can be told.
func (r Rebuild) written(ctx context.Context) int64 {
	out, err := r.Machine.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", `d=$(readlink -f "$1") && cat /sys/class/block/${d##*/}/stat`, "sh", r.Target}})
	if err != nil {
		return 0
	}
	if s := numbers(string(out.Stdout)); len(s) > 6 {
		return s[6] * sector
	}
	return 0
}
