package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/advise"
)

// statements adds to the finding about reads which statements they are of, and what would spare them: a read cache, another index.
func (in Input) statements(r *advise.Report, f *advise.Finding) {
	s := in.Statements
	if s == nil {
		return
	}
	r.Statements = s
	r.Unknown = append(r.Unknown, s.Unknown...)
	for _, st := range s.All[:min(len(s.All), 3)] {
		if st.Reads.High > 0 {
			f.Evidence = append(f.Evidence, in.told(st))
		}
	}
	for _, st := range s.All {
		if st.Reads.Mean < 0.05*in.Memory.Reads || st.Reads.Mean == 0 {
			break // an answer to less is no answer
		}
		if o, can := in.index(st, r); can {
			f.Options = append(f.Options, o)
		}
		f.Options = append(f.Options, in.caches(st)...)
	}
}

// told is a sentence about what a statement reads.
func (in Input) told(st advise.Statement) string {
	s := fmt.Sprintf("%.0f (%.0f to %.0f) of %.0f reads a second: %s", st.Reads.Mean, st.Reads.Low, st.Reads.High, in.Memory.Reads, short(st.Text))
	if st.Calls > 0 {
		s += fmt.Sprintf("; %s a second, %s rows read and %s returned by each", brief(st.Calls), brief(st.Examined), brief(st.Returned))
	}
	switch {
	case st.Access == "ALL":
		s += "; it scans the whole table"
	case st.Access == "index":
		s += "; it scans the whole index " + st.Key
	case st.Key != "":
		s += "; by the index " + st.Key
	}
	if k := st.Keys; k != nil {
		s += fmt.Sprintf("; %d observed values, of which %d are distinct: a skew of %.2g (%.2g to %.2g)", k.Seen, k.Distinct, k.Skew.Mean, k.Skew.Low, k.Skew.High)
		if k.Biased {
			s += ", from running statements, among which statements that read from disk are over-represented"
		}
	}
	return s + "."
}

// brief is a number with as many digits as matter.
func brief(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func short(text string) string {
	const most = 120
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// rowsRoom is how many pages of the table's rows are in memory.
func rowsRoom(z *advise.TableSize) float64 { return cmp.Or(z.CachedRows, z.Cached*z.Pages) }

// over is a share that is left with the skew as it was seen, and with the ends of its interval; equal chances where no keys were seen.
func over(st advise.Statement, left func(l lookups, scale float64) float64) advise.Figure {
	skew := advise.Figure{}
	if st.Keys != nil {
		skew = st.Keys.Skew
	}
	at := func(s float64) float64 { return min(max(left(newLookups(float64(st.Shape.Rows), s)), 0), 1) }
	f := advise.Figure{Mean: at(skew.Mean)}
	f.Low, f.High = f.Mean, f.Mean
	if skew.Low < skew.High {
		f.Low, f.High = at(skew.High), at(skew.Low)
	}
	f.Low, f.High = min(f.Low, f.High, f.Mean), max(f.Low, f.High, f.Mean)
	return f
}

// answer is what an entry of a cache takes beside its answer: the key's text, the entry's own books and Valkey's.
const answer = 120

// caches are read caches for a statement whose keys were seen: the smallest node that holds all its answers, and the next smaller ones
// that hold a tenth of them or more.
func (in Input) caches(st advise.Statement) (all []advise.Option) {
	if !st.Plain || st.Keys == nil || st.Shape == nil || len(st.Equal) == 0 || len(st.Range) > 0 {
		return nil
	}
	bytes, known := width(st.Asked, &advise.TableSize{Columns: st.Shape.Columns})
	if !known || st.Asked == nil {
		bytes = int64(float64(st.Shape.PageSize) * st.Shape.Pages / max(float64(st.Shape.Rows), 1)) // a whole row
	}
	each := float64(bytes + answer)
	nodes := slices.SortedFunc(maps.Keys(in.Prices.Caches), func(a, b string) int {
		return cmp.Or(cmp.Compare(in.Prices.Caches[a].GiB, in.Prices.Caches[b].GiB), strings.Compare(a, b))
	})
	for _, node := range nodes {
		const usable = 0.75 // ElastiCache keeps a quarter of a node free for its own work by default
		entries := in.Prices.Caches[node].GiB * (1 << 30) * usable / each
		holds := entries / float64(max(st.Shape.Rows, 1))
		if holds >= 0.1 {
			all = append(all, in.cache(st, node, entries, each))
		}
		if holds >= 1 {
			break
		}
	}
	return all
}

func (in Input) cache(st advise.Statement, node string, entries, each float64) advise.Option {
	z := st.Shape
	entries = min(entries, float64(z.Rows))
	left := over(st, func(l lookups, scale float64) float64 {
		perPage := float64(z.Rows) / max(z.Pages, 1)
		through, _ := l.behind(entries * scale)
		return through.missed(perPage, rowsRoom(z)*scale) / max(l.missed(perPage, rowsRoom(z)*scale), 1e-9)
	})
	answered := over(st, func(l lookups, scale float64) float64 {
		_, share := l.behind(entries * scale)
		return share
	})
	o := in.option(fmt.Sprintf("a read cache for %s, %s", st.Table, node), st, left)
	o.Effects = append(o.Effects, advise.Effect{What: "answered by the cache, once full", Unit: "share", Then: answered.Mean, Low: answered.Low, High: answered.High})
	o.Price = in.now().Plus(in.Prices.Cache(node))
	o.Change = o.Price.Minus(in.now())
	if in.now() == (advise.Price{}) {
		o.Change = o.Price
	}
	o.Risk = fmt.Sprintf("the application must read the cache first and invalidate what it changes, or accept stale answers; the cache starts empty, and %.0f keys need as many reads to fill it (%s); if the cache fails, all reads return to the database", entries, size(int64(entries*each)))
	o.Undo = "read from the database only"
	o.Rehearse = fmt.Sprintf("plimsoll trial run examples/burst-bucket/cache.yaml --set load.cache.memory=%.0fM", max(entries*each/(1<<20), 1))
	return o
}

// option is one that leaves a share of a statement's reads.
func (in Input) option(name string, st advise.Statement, left advise.Figure) advise.Option {
	now := in.Memory.Curve.Now.Reads
	saved := func(reads, share float64) float64 { return max(now-reads*(1-share), 0) }
	e := advise.Effect{
		What: "reads a second from disk", Unit: "per_second", Now: now, Load: in.Memory.Requests,
		Then: saved(st.Reads.Mean, left.Mean), Low: saved(st.Reads.High, left.Low), High: saved(st.Reads.Low, left.High),
	}
	return advise.Option{Name: name, Effects: []advise.Effect{e}}
}

// perRead says what each option costs for a read a second less, one of the server's standing for so many.
func perRead(options []advise.Option, scale float64) {
	for i, o := range options {
		for _, e := range o.Effects {
			if e.What == "reads a second from disk" && e.Now-e.Then > 0.5 && o.Change.Known() && o.Change.Month >= 0 {
				price := o.Change.Month / (e.Now - e.Then) / scale
				options[i].PerRead, options[i].PerReadLow, options[i].PerReadHigh = &price, max(o.Change.Low, 0)/(e.Now-e.Low)/scale, advise.Forever
				if e.Now-e.High > 0.5 {
					options[i].PerReadHigh = o.Change.High / (e.Now - e.High) / scale
				}
			}
		}
	}
}
