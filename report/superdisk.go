package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/report/quantity"
	"plimsoll/result"
	"plimsoll/series"
)

// superDisk is what became of the two legs of a node's Super Disk over a run.
type superDisk struct {
	Name string // the run, where there are several, and the node
	Long float64
	Legs []leg
}

// leg is one leg, over the time of a run.
type leg struct {
	Role    string
	Periods []period
	Reads   float64 // a second, on average over the looks
	Writes  float64
}

// period is a time during which a leg was in one state, in seconds after the run's start.
type period struct {
	State    legState
	From, To float64
	Share    float64 // of the leg that was in step, at the end
}

// legState is what a leg was like.
type legState string

// The states of a leg, in the words of superdisk status.
const (
	legInStep  legState = "in step"
	legRebuilt legState = "being rebuilt"
	legAway    legState = "away"
	legHangs   legState = "hangs"
	legUnseen  legState = "no array found"
)

// roles are the legs and what each is for.
var roles = []struct{ name, says string }{
	{"local", "local: answers reads"},
	{"network", "network: write-mostly, survives the machine"},
}

// Of signals of package probe: what a leg says, below superdisk.ROLE.
const (
	legShareSignal  = "_in_step_share"
	legHungSignal   = "_hung_seconds"
	legReadsSignal  = "_reads_per_second"
	legWritesSignal = "_writes_per_second"

	hungFrom  = 5.0  // seconds, as superdisk status has it
	unseenFor = 16.0 // seconds without a look: the machine was gone, or the array stopped
)

// superDisks are those that were seen in the runs.
func superDisks(r *result.Result, all []*run) (found []superDisk) {
	byNode := map[string][]series.Point{}
	for _, p := range r.Signals {
		if strings.HasPrefix(p.Signal, "superdisk.") {
			byNode[p.Node] = append(byNode[p.Node], p)
		}
	}
	for _, u := range all {
		var here []superDisk
		for node, points := range byNode {
			if d, seen := newSuperDisk(u, points); seen {
				d.Name = node
				if len(all) > 1 || u.Cell != "" {
					d.Name = u.Name() + ", " + node
				}
				here = append(here, d)
			}
		}
		slices.SortFunc(here, func(a, b superDisk) int { return cmp.Compare(a.Name, b.Name) })
		found = append(found, here...)
	}
	return found
}

func newSuperDisk(u *run, points []series.Point) (d superDisk, seen bool) {
	d.Long = u.End.Sub(u.Start).Seconds()
	within := slices.DeleteFunc(slices.Clone(points), func(p series.Point) bool { return p.Time.Before(u.Start) || p.Time.After(u.End) })
	for _, role := range roles {
		l := leg{Role: role.says}
		l.Periods = periods(within, role.name, u)
		l.Reads, l.Writes = meanOf(within, "superdisk."+role.name+legReadsSignal), meanOf(within, "superdisk."+role.name+legWritesSignal)
		d.Legs = append(d.Legs, l)
		seen = seen || slices.ContainsFunc(l.Periods, func(s period) bool { return s.State != legUnseen })
	}
	return d, seen
}

func meanOf(points []series.Point, signal string) float64 {
	sum, n := 0.0, 0
	for _, p := range points {
		if p.Signal == signal {
			sum, n = sum+p.Value, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// periods joins looks that saw the same.
func periods(points []series.Point, role string, u *run) (all []period) {
	hung := map[time.Time]float64{}
	var looks []series.Point
	for _, p := range points {
		switch p.Signal {
		case "superdisk." + role + legHungSignal:
			hung[p.Time] = p.Value
		case "superdisk." + role + legShareSignal:
			looks = append(looks, p)
		}
	}
	slices.SortFunc(looks, func(a, b series.Point) int { return a.Time.Compare(b.Time) })
	until := 0.0
	put := func(s period) {
		if n := len(all); n > 0 && all[n-1].State == s.State {
			all[n-1].To, all[n-1].Share = s.To, s.Share
		} else if s.To > s.From {
			all = append(all, s)
		}
		until = s.To
	}
	long := u.End.Sub(u.Start).Seconds()
	for i, p := range looks {
		at := p.Time.Sub(u.Start).Seconds()
		next := long
		if i+1 < len(looks) {
			next = looks[i+1].Time.Sub(u.Start).Seconds()
		}
		if at-until > unseenFor {
			put(period{State: legUnseen, From: until, To: at})
		}
		put(period{State: stateOf(p.Value, hung[p.Time]), From: until, To: min(next, at+unseenFor), Share: p.Value})
	}
	if long-until > unseenFor {
		put(period{State: legUnseen, From: until, To: long})
	}
	return all
}

func stateOf(share, hung float64) legState {
	switch {
	case hung >= hungFrom:
		return legHangs
	case share >= 1:
		return legInStep
	case share > 0:
		return legRebuilt
	}
	return legAway
}

// String is the period in words: away from 0:35 to 1:04.
func (s period) String() string {
	text := fmt.Sprintf("%s from %s to %s", s.State, quantity.Elapsed.Format(s.From), quantity.Elapsed.Format(s.To))
	if s.State == legRebuilt {
		text += fmt.Sprintf(" (%s of it when last seen)", quantity.Share.Format(s.Share))
	}
	return text
}

// Table tells the same in words.
func (d superDisk) Table() table {
	t := table{Title: d.Name, Corner: "leg", Columns: []string{"over time", "reads a second", "writes a second"}, Words: true}
	for _, l := range d.Legs {
		var said []string
		for _, s := range l.Periods {
			said = append(said, s.String())
		}
		t.Rows = append(t.Rows, line{Head: l.Role, Ink: -1, Cells: plainEntries(strings.Join(said, "; "), quantity.PerSecond.Format(l.Reads), quantity.PerSecond.Format(l.Writes))})
	}
	return t
}

// SVG draws both legs over time: a full bar is in step, one that rises is brought into step, a thin line is away, a bar with a gap in it
// hangs. What is drawn is told apart by shape, and by colour too.
func (d superDisk) SVG() template.HTML {
	const width, height, row, gap, top = 1000.0, 108, 30.0, 16.0, 16.0
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %d" style="display:block;width:100%%;height:auto;font-size:12px" role="img" aria-label="%s">`,
		width, height, template.HTMLEscapeString(d.Describe()))
	for i, l := range d.Legs {
		y := top + float64(i)*(row+gap)
		fmt.Fprintf(&b, `<text x="0" y="%g" style="fill:var(--muted)">%s</text>`, y-4, template.HTMLEscapeString(l.Role))
		for _, s := range l.Periods {
			b.WriteString(s.shape(s.From/d.Long*width, s.To/d.Long*width, y, row))
		}
	}
	fmt.Fprintf(&b, `<text x="0" y="%d" style="fill:var(--muted)">0:00</text><text x="%g" y="%d" style="fill:var(--muted);text-anchor:end">%s</text></svg>`,
		height-2, width, height-2, quantity.Elapsed.Format(d.Long))
	return template.HTML(b.String()) //nolint:gosec // numbers and escaped text
}

// Describe says what is drawn, for those who cannot see it.
func (d superDisk) Describe() string {
	var said []string
	for _, l := range d.Table().Rows {
		said = append(said, l.Head+": "+l.Cells[0].Value)
	}
	return "The Super Disk of " + d.Name + ". " + strings.Join(said, ". ")
}

// shape is a bar from x to x, below y.
func (s period) shape(from, to, y, row float64) string {
	bar := func(y, height float64, fill string) string {
		return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" style="fill:var(--%s)"><title>%s</title></rect>`,
			from, y, max(to-from, 1), height, fill, template.HTMLEscapeString(s.String()))
	}
	switch s.State {
	case legInStep:
		return bar(y, row, "pass")
	case legRebuilt:
		return fmt.Sprintf(`<path d="M%.1f %.1fL%.1f %.1fV%.1fH%.1fZ" style="fill:var(--inconclusive)"><title>%s</title></path>`,
			from, y+row-3, to, y+row*(1-s.Share), y+row, from, template.HTMLEscapeString(s.String()))
	case legHangs:
		return bar(y, row/3, "trouble") + bar(y+2*row/3, row/3, "trouble")
	case legAway:
		return bar(y+row-3, 3, "trouble")
	}
	return bar(y+row-1, 1, "hair")
}

// superDiskKey says how the picture is read.
const superDiskKey = "A full bar is a leg with all data; a rising bar is a leg that md is rebuilding; a thin line is a leg that is missing, also while Plimsoll copies onto it " +
	"before md adds it; a bar with a gap is a leg that hangs. Nothing is drawn where no array was found: the machine was down, or the array stopped. Reads and writes are those of each leg's disk, by the kernel's own counters, every two seconds."
