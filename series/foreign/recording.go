package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/document"
	"plimsoll/series"
)

// Recording is a foreign series as far as it goes beside a period, on that period's clock.
type Recording struct {
	Name    string
	About   About
	Offset  time.Duration // what was added to its own times
	Seconds []Second      // in time
}

// Second is an interval of all operations together, with the times that its percentiles are of.
type Second struct {
	series.Row
	Times series.Snapshot // empty where only percentiles were kept
}

// End is when the second ended.
func (s Second) End() time.Time { return s.Time.Add(s.Length) }

// Latency are the percentiles of the recording's basis.
func (r Recording) Latency(s Second) series.Latency {
	if r.About.Basis == Response {
		return s.Response
	}
	return s.Service
}

// Beside says which period a series is to go beside, and how its clock differs.
type Beside struct {
	From, To time.Time
	Offset   time.Duration // to add to the series' times
	Align    bool          // instead: the series begins when the period does
}

// Open reads an imported folder, a result's folder, or a tool's file as it is, and keeps what lies beside the period. It is an
// error if nothing does.
func Open(ctx context.Context, path string, at Beside, o Options) (Recording, error) {
	r := &Recording{Name: NameOf(path), Offset: at.Offset}
	info, err := os.Stat(path)
	if err != nil {
		return *r, fmt.Errorf("open series: %w", err)
	}
	if info.IsDir() {
		err = r.openFolder(path, &at)
	} else {
		err = r.openFile(ctx, path, &at, o)
	}
	if err != nil {
		return *r, err
	}
	if len(r.Seconds) == 0 {
		const clock = "2006-01-02 15:04:05"
		return *r, &document.Problem{
			File: path,
			Text: fmt.Sprintf("it covers %s to %s, but the load of the trial ran from %s to %s (UTC): they do not overlap",
				r.About.From.Add(r.Offset).UTC().Format(clock), r.About.To.Add(r.Offset).UTC().Format(clock), at.From.UTC().Format(clock), at.To.UTC().Format(clock)),
			Hint: "give the difference of its clock with --offset: 90s, -1h, or start, which aligns both beginnings",
		}
	}
	slices.SortStableFunc(r.Seconds, func(a, b Second) int { return a.Time.Compare(b.Time) })
	return *r, nil
}

// NameOf is what a series is called: the folder's or file's name without what says how it is packed.
func NameOf(path string) string {
	name := filepath.Base(filepath.Clean(path))
	for _, suffix := range []string{".gz", ".csv", ".hlog"} {
		if rest := name[:max(len(name)-len(suffix), 0)]; rest != "" && rest+suffix == name {
			name = rest
		}
	}
	return name
}

func (r *Recording) openFile(ctx context.Context, path string, at *Beside, o Options) error {
	read, err := sniff(ctx, path)
	if err != nil {
		return err
	}
	r.About, err = read(ctx, path, o, func(start time.Time, length time.Duration, operations []series.Interval) error {
		r.align(start, at)
		if !at.holds(start.Add(r.Offset), length) {
			return nil
		}
		sum := series.Together(start.Add(r.Offset), length, operations)
		times := sum.Service
		if sum.Response.Count() > 0 {
			times = sum.Response
		}
		r.Seconds = append(r.Seconds, Second{sum.Row(), times})
		return nil
	})
	return err
}

// align lays the first interval on the beginning of the period, if that is asked for.
func (r *Recording) align(first time.Time, at *Beside) {
	if at.Align {
		at.Align, r.Offset = false, at.From.Sub(first)
	}
}

// holds tells whether the middle of an interval lies in the period.
func (b Beside) holds(start time.Time, length time.Duration) bool {
	middle := start.Add(length / 2)
	return !middle.Before(b.From) && middle.Before(b.To)
}

func (r *Recording) openFolder(dir string, at *Beside) error {
	if err := r.readAbout(dir); err != nil {
		return err
	}
	index := map[time.Time]int{} // of a second by its own clock, as exact as a latency log has it
	err := each(filepath.Join(dir, seriesFile), func(f *os.File) error {
		for row, err := range series.ReadRows(f) {
			if err != nil {
				return err
			}
			if row.Operation != allOperations {
				continue
			}
			if row.Length <= 0 {
				row.Length = time.Second
			}
			r.align(row.Time, at)
			r.cover(row)
			own := row.Time
			if row.Time = own.Add(r.Offset); at.holds(row.Time, row.Length) {
				index[own.Truncate(time.Millisecond)] = len(r.Seconds)
				r.Seconds = append(r.Seconds, Second{Row: row})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = each(filepath.Join(dir, latencyFile), func(f *os.File) error { return r.addTimes(f, index) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the percentiles of each second are there
	}
	return err
}

// cover takes a row into the account of a result, which has none of its own.
func (r *Recording) cover(row series.Row) {
	if r.About.Tool != "plimsoll" {
		return
	}
	if r.About.From.IsZero() || row.Time.Before(r.About.From) {
		r.About.From = row.Time
	}
	if end := row.Time.Add(row.Length); end.After(r.About.To) {
		r.About.To = end
	}
	r.About.Tally = r.About.Plus(row.Tally)
}

func (r *Recording) readAbout(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, aboutFile))
	switch {
	case err == nil:
		if err := json.Unmarshal(data, &r.About); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(dir, aboutFile), err)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open series: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, seriesFile)); err != nil {
		return &document.Problem{File: dir, Text: "this is neither an imported series nor a result folder: there is no " + seriesFile + " in it"}
	}
	r.About = About{Tool: "plimsoll", Source: dir, Basis: Response}
	return nil
}

// addTimes adds the histograms of the recording's basis to their seconds.
func (r *Recording) addTimes(f *os.File, index map[time.Time]int) error {
	parts := map[int][]series.Snapshot{}
	for entry, err := range series.ReadLatencyLog(f) {
		if err != nil {
			return err
		}
		i, beside := index[entry.Start.Truncate(time.Millisecond)]
		tag := series.TagParts(entry.Tag)
		if beside && tag[len(tag)-1] == string(r.About.Basis) {
			parts[i] = append(parts[i], entry.Durations)
		}
	}
	for i, all := range parts {
		if len(all) == 1 {
			r.Seconds[i].Times = all[0]
			continue
		}
		r.Seconds[i].Times = series.Merge(all...).Snapshot()
	}
	return nil
}

func each(path string, read func(*os.File) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open series: %w", err)
	}
	if err := errors.Join(read(f), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Named is a recording under another name.
func (r Recording) Named(name string) Recording {
	r.Name = cmp.Or(name, r.Name)
	return r
}
