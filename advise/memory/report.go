package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
)

// Reported makes a report of what was seen, for sizes of the cache in bytes.
func Reported(o *Observation, sizes []int64, seed uint64) *advise.Memory {
	r := &advise.Memory{
		At: o.Began, Looked: o.Took, Bytes: o.Cache.Size, PageSize: o.Cache.PageSize, Pages: o.Cache.Data,
		Data: o.DataPages() * o.Cache.PageSize, Cost: o.Cost, Every: o.Every,
	}
	intervals := o.Intervals
	other, is := changed(intervals)
	if is {
		intervals = intervals[other.at:]
		r.Explained = append(r.Explained, other.note(o.Began))
	} else if len(intervals) < 2*leastAround {
		r.Notes = append(r.Notes, fmt.Sprintf("Whether the load changed during the observation cannot be told from %d lists of pages: it takes %d. Observe for longer (--for) if it may have.", len(intervals)+1, 2*leastAround+1))
	}
	var c Counts
	seconds := 0.0
	for _, i := range intervals {
		seconds += i.Seconds
		c.Requests += i.Counts.Requests
		c.Read += i.Counts.Read
		c.Waited += i.Counts.Waited
		c.Commits += i.Counts.Commits
		c.Statements += i.Counts.Statements
	}
	r.Requests, r.Reads, r.Waited = float64(c.Requests)/seconds, float64(c.Read)/seconds, float64(c.Waited)/seconds
	r.IOPS, r.Writes, r.Peak = operations(intervals)
	r.Commits, r.Executed = float64(c.Commits)/seconds, float64(c.Statements)/seconds
	r.HitRatio = 1 - r.Waited/max(r.Requests, 1e-9)
	if len(sizes) == 0 {
		sizes = usualSizes(o.Cache.Size)
	}
	slices.Sort(sizes)
	r.Curve = Predict(intervals, o.Cache, o.DataPages(), sizes, seed)
	r.Line = Predict(intervals, o.Cache, o.DataPages(), dense(o.Cache.Size, sizes), seed).Points
	for n := range r.Curve.Points {
		if is && r.Curve.Points[n].Doubt == "" {
			r.Curve.Points[n].Doubt = "the load changed during the observation"
		}
	}
	for _, p := range r.Curve.Points {
		r.Warm = append(r.Warm, warmth(r, p, float64(o.Cache.Data)))
	}
	r.Tables = tables(o, r.Reads)
	explain(r)
	r.Explained = append(r.Explained, keptFree(o.Cache)...)
	return r
}

// operations are those on the disk a second: all, the writes among them, and the largest of any ten seconds.
func operations(intervals []Interval) (iops, writes, peak float64) {
	var seconds, all, written float64
	var span, within float64 // of the seconds that are summed up for the peak
	for _, i := range intervals {
		n := float64(i.Counts.DiskReads + i.Counts.Written)
		seconds, all, written = seconds+i.Seconds, all+n, written+float64(i.Counts.Written)
		if span, within = span+i.Seconds, within+n; span >= 10 {
			peak = max(peak, within/span)
			span, within = 0, 0
		}
	}
	iops = all / max(seconds, 1e-9)
	return iops, written / max(seconds, 1e-9), max(peak, iops)
}

// usualSizes are those to look at where none were asked for.
func usualSizes(now int64) (sizes []int64) {
	for _, times := range []float64{0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4} {
		sizes = append(sizes, int64(times*float64(now)))
	}
	return sizes
}

// dense are sizes to draw a curve with.
func dense(now int64, sizes []int64) (out []int64) {
	from, to := min(sizes[0], now/2), max(sizes[len(sizes)-1], now*5/2)
	const steps = 60
	for i := range steps + 1 {
		out = append(out, from+(to-from)*int64(i)/steps)
	}
	return out
}

// warmth adds up how long each page of room takes to be filled by the reads that there are with what is already held.
func warmth(r *advise.Memory, p advise.Point, held float64) advise.Warmth {
	fill := func(from, to float64) (time.Duration, time.Duration, time.Duration) {
		const steps = 50
		over := func(reads func(advise.Point) float64) time.Duration {
			seconds := 0.0
			for i := range steps {
				at := from + (to-from)*(float64(i)+0.5)/steps
				seconds += (to - from) / steps / max(reads(pointAt(r, at/held)), 1)
			}
			return time.Duration(min(seconds, 1e9) * float64(time.Second))
		}
		return over(func(p advise.Point) float64 { return p.Reads }), over(func(p advise.Point) float64 { return p.High }), over(func(p advise.Point) float64 { return p.Low })
	}
	full := p.Times * held
	if data := float64(r.Data) / float64(max(r.PageSize, 1)); data > 0 { // no more than there is can be read into it
		full = min(full, max(data, held))
	}
	w := advise.Warmth{}
	w.Restarted, w.RestartedLow, w.RestartedHigh = fill(0, full)
	if full > held {
		w.Resized, w.ResizedLow, w.ResizedHigh = fill(held, full)
	}
	return w
}

// pointAt is the drawn curve at so many times the cache.
func pointAt(r *advise.Memory, times float64) advise.Point {
	for _, p := range r.Line {
		if p.Times >= times {
			return p
		}
	}
	return r.Line[len(r.Line)-1]
}

// explain says what the hit ratio hides, and how much of the data is held.
func explain(r *advise.Memory) {
	r.Explained = append(r.Explained, fmt.Sprintf("%.4g %% of %s page requests a second were answered from memory: the rest are %s reads a second from disk.",
		100*r.HitRatio, grouped(r.Requests), grouped(r.Waited)))
	if ahead := r.Reads - r.Waited; ahead > 0.02*r.Reads {
		r.Explained = append(r.Explained, fmt.Sprintf("Another %s per second were read ahead: the disk does %s in all.", grouped(ahead), grouped(r.Reads)))
	}
	if r.Data > 0 {
		r.Explained = append(r.Explained, fmt.Sprintf("Data and indexes are %s, of which memory holds %.0f %%.", mebibytes(r.Data), 100*min(float64(r.Pages*r.PageSize)/float64(r.Data), 1)))
	}
	r.Explained = append(r.Explained, kneeTold(r))
}

// kneeTold says how much memory would leave hardly any reads, as far as that is known.
func kneeTold(r *advise.Memory) string {
	switch c := r.Curve; {
	case r.Few():
		return fmt.Sprintf("Memory holds what the load asks for: with %s reads a second left, more of it would change nothing.", grouped(r.Reads))
	case c.Knee > 0 && c.KneeDoubt != "":
		return fmt.Sprintf("With %s, less than 5 %% of today's reads would remain, with low confidence: %s.", mebibytes(c.Knee), c.KneeDoubt)
	case c.Knee > 0:
		return fmt.Sprintf("With %s, less than 5 %% of today's reads would remain.", mebibytes(c.Knee))
	case c.AllData > 0:
		return fmt.Sprintf("With %s all data fits, and no reads of it remain. The observation does not show with how much less under 5 %% of today's reads would: no page returned from that distance. Observe for longer.", mebibytes(c.AllData))
	}
	return "The observation does not show how much memory would leave less than 5 % of today's reads: no page returned from that distance. Observe for longer."
}

// keptFree tells of a pool of which the server keeps a large part free for pages that are to come, which helps no read.
func keptFree(c engine.PageCache) []string {
	if c.Pages == 0 || c.KeepsFree < c.Pages/5 || c.Free < c.Pages/5 {
		return nil
	}
	return []string{fmt.Sprintf("%s of %s of the pool are free, because the server evicts pages until innodb_lru_scan_depth pages (%d) are: a lower value leaves more of the pool for data, without a restart.",
		mebibytes(c.Free*c.PageSize), mebibytes(c.Pages*c.PageSize), c.KeepsFree/int64(max(c.Parts, 1)))}
}

func grouped(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	if v < 10 {
		return fmt.Sprintf("%.2g", v)
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func mebibytes(n int64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}

// tables says which tables and indexes the cache holds, and which of them only pass through.
func tables(o *Observation, reads float64) []advise.Table {
	bytes, loads, all := map[string]float64{}, map[string]float64{}, 0.0
	of := map[uint32]string{}
	for _, s := range o.Spaces {
		bytes[s.Table] += float64(s.Bytes)
		of[s.ID] = s.Table
	}
	for _, i := range o.Intervals {
		for space, n := range i.Spaces {
			loads[of[space]] += n
			all += n
		}
	}
	cached := map[string]int64{}
	for _, c := range o.Objects {
		cached[c.Table] += c.Pages
	}
	var out []advise.Table
	told := map[string]bool{}
	for _, c := range o.Objects {
		t := advise.Table{Table: c.Table, Index: c.Index, Pages: c.Pages, Share: float64(c.Pages) / float64(max(o.Cache.Data, 1))}
		if b := bytes[c.Table]; b > 0 {
			t.Of = float64(cached[c.Table]*o.Cache.PageSize) / b
		}
		if !told[c.Table] && all > 0 && !strings.EqualFold(c.Table, "") {
			told[c.Table] = true
			part := loads[c.Table] / all
			t.Reads = part * reads
			held := float64(cached[c.Table]) / float64(max(o.Cache.Data, 1))
			switch {
			case held > 2*part && held > 0.01:
				t.Role = advise.Lives
			case part > 1.5*held && part > 0.01:
				t.Role = advise.Passes
			}
		}
		out = append(out, t)
	}
	return out
}
