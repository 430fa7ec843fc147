package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/series"
)

// Hdr reads an HdrHistogram log: format 1.2 or 1.3, with or without tags, gzipped or not. Each tag is an operation. Such a log
// holds no errors, and says neither what unit its values have nor from where they count: that is for the caller to know.
func Hdr(ctx context.Context, path string, o Options, into sink) (About, error) {
	about := About{Tool: "hdr", Source: path, Basis: cmp.Or(o.Basis, Response)}
	f, err := openFile(ctx, path, o.Progress)
	if err != nil {
		return about, err
	}
	defer f.close() //nolint:errcheck // it was only read
	g := &group{about: &about, into: about.ledger(into)}
	tags := map[string]bool{}
	for entry, err := range series.ReadLatencyLog(f.text) {
		var wrong *series.LineError
		switch {
		case errors.As(err, &wrong):
			return about, f.problem(wrong.Line, 1, "%v", wrong.Err)
		case cutOff(err):
			about.Notes = append(about.Notes, "the file is truncated; everything before the end was read")
			continue
		case err != nil:
			return about, fmt.Errorf("read %s: %w", path, err)
		}
		if tags[entry.Tag] = true; len(o.Tags) > 0 && !slices.Contains(o.Tags, entry.Tag) {
			continue
		}
		if parts := series.TagParts(entry.Tag); len(parts) == 5 && (parts[4] == string(Service) || parts[4] == string(Response)) {
			return about, f.problem(1, 1, "this is a latency.hlog of Plimsoll, which contains both response and service times").WithHint("name its result folder instead: --beside results/…")
		}
		if o.Unit > time.Nanosecond {
			entry.Durations = scale(entry.Durations, o.Unit)
		}
		if err := g.add(entry); err != nil {
			return about, err
		}
	}
	if err := g.finish(); err != nil {
		return about, err
	}
	if about.From.IsZero() {
		known := make([]string, 0, len(tags))
		for tag := range tags {
			known = append(known, fmt.Sprintf("%q", tag))
		}
		slices.Sort(known)
		if len(known) > 0 {
			return about, f.problem(1, 1, "no interval has one of these tags").WithHint("the file's tags: %s", strings.Join(known, ", "))
		}
		return about, f.problem(1, 1, "there is no interval in it")
	}
	return about, nil
}

// scale multiplies values, each counted at the upper edge of its bucket.
func scale(s series.Snapshot, by time.Duration) series.Snapshot {
	h := series.NewHistogram()
	for value, n := range s.Buckets() {
		h.RecordN(min(value, time.Hour/by)*by, n)
	}
	return h.Snapshot()
}

// group gathers the tags of one interval, which a log has on lines of their own with times that may differ by a little.
type group struct {
	about  *About
	into   sink
	start  time.Time
	length time.Duration
	all    []series.Interval
}

func (g *group) add(e series.Logged) error {
	name := cmp.Or(e.Tag, "untagged")
	again := slices.ContainsFunc(g.all, func(i series.Interval) bool { return i.Operation == name })
	if away := e.Start.Sub(g.start).Abs(); len(g.all) > 0 && (again || 2*away > g.length) {
		if err := g.finish(); err != nil {
			return err
		}
	}
	if len(g.all) == 0 {
		g.start, g.length = e.Start, e.Length
	}
	g.all = append(g.all, g.about.interval(g.start, g.length, name, e.Durations, nil))
	return nil
}

func (g *group) finish() error {
	if len(g.all) == 0 {
		return nil
	}
	all := g.all
	g.all = nil
	return g.into(g.start, g.length, all)
}
