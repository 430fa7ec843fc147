package superdiskcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/report/quantity"
	"plimsoll/superdisk"
)

func (o superdiskStatus) print(c console.Streams, all []superdiskNode) error {
	if o.asJSON {
		if o.watch {
			e := json.NewEncoder(c.Out)
			for _, n := range all {
				if err := e.Encode(n); err != nil {
					return err
				}
			}
			return nil
		}
		return console.PrintJSON(c, all)
	}
	found := false
	for _, n := range all {
		if n.ClockAhead.Abs() >= time.Minute {
			printClock(c.Out, n)
		}
		found = found || len(n.Arrays)+len(n.Stopped)+len(n.Mounted)+len(n.Unread) > 0 || n.Error != ""
		printSuperdisks(c.Prose(), n)
		printDisks(c.Prose(), n)
	}
	if !found {
		fmt.Fprintf(c.Err, "no RAID1 was found; to plan one: plimsoll runbook plan superdisk/create --cluster %s -i node=%s -i local=FILL_IN -i network=FILL_IN -i mount=FILL_IN\n",
			cmp.Or(o.cluster, hint.FillIn), o.oneNode(all))
	}
	return nil
}

// oneNode is the node that was looked at, if it is the only one of a cluster.
func (o superdiskStatus) oneNode(all []superdiskNode) string {
	if o.cluster == "" || len(all) != 1 {
		return hint.FillIn
	}
	return all[0].Node
}

// printClock warns of a machine whose clock is off.
func printClock(out io.Writer, n superdiskNode) {
	how := "ahead of"
	if n.ClockAhead < 0 {
		how = "behind"
	}
	fmt.Fprintf(out, "! the clock of %s is %s %s this host's; Plimsoll's records of its legs use this host's clock\n  next: set the clock that is wrong (chronyc makestep) before a database starts there\n",
		n.Machine, n.ClockAhead.Abs().Round(time.Second), how)
}

func (n superdiskNode) where() string {
	if n.Node != "" {
		return n.Node + " on " + n.Machine
	}
	return n.Machine
}

func printSuperdisks(out io.Writer, n superdiskNode) {
	for _, a := range n.Arrays {
		fmt.Fprintf(out, "%s: %s (%s), %s, %s", n.where(), a.Label(), a.Device, quantity.Bytes.Format(float64(a.Size)), stateOf(a))
		if a.Mount != "" {
			fmt.Fprintf(out, ", %s at %s", a.Files, a.Mount)
		}
		fmt.Fprintf(out, "\n  array %s, kernel %s\n", a.UUID, n.Kernel.Release)
		w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  LEG\tDEVICE\tVOLUME\tSTATE\tSINCE\tERRORS\tBAD\tREADS\tWRITES\tIN FLIGHT")
		record := n.Record[a.Device]
		for _, l := range a.Legs {
			since := "–"
			if r, known := record.Legs[record.Key(a, l)]; known && r.InStep == l.InStep() {
				since = moment(r.Since)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%d\n", l.Role, l.Device, cmp.Or(l.Volume, "–"), strings.Join(l.State, ","), since, l.Errors, l.BadBlocks,
				quantity.Count.Format(float64(l.IO.Reads)), quantity.Count.Format(float64(l.IO.Writes)), l.IO.InFlight)
		}
		_ = w.Flush()
		printMissing(out, n, a)
		if c := record.Compared; c != nil && c.Clean() { // else it is advice
			fmt.Fprintf(out, "  %s: %s\n", c.When(), c)
		}
		printAdvice(out, n.Advice[a.Device])
	}
}

// moment is a time of the record, which is kept in UTC.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

func printAdvice(out io.Writer, all []superdisk.Advice) {
	for _, advice := range all {
		mark := "  "
		if advice.Urgent {
			mark = "! "
		}
		fmt.Fprintf(out, "%s%s\n", mark, advice.Text)
		if advice.Do != "" {
			fmt.Fprintf(out, "  next: %s\n", advice.Do)
		}
	}
}

// printDisks shows what stands on disks that no running array has: arrays that are stopped, and the node's data on a disk of its own.
func printDisks(out io.Writer, n superdiskNode) {
	for _, s := range n.Stopped {
		if a, there := n.Find(s.UUID); there && a.Running() {
			for _, l := range s.Legs {
				fmt.Fprintf(out, "%s: %s is the %s leg of %s, which runs without it\n", n.where(), l.Device, l.Role, a.Label())
			}
			continue
		}
		fmt.Fprintf(out, "%s: %s is stopped, with %d of its legs on this machine\n  array %s, kernel %s\n", n.where(), s.Name, len(s.Legs), s.UUID, n.Kernel.Release)
		w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  LEG\tDEVICE\tVOLUME\tSERVED ALONE\tWRITTEN\tBY THE RECORD")
		for _, l := range s.Legs {
			recorded := "not known"
			switch r, known := n.Record[s.UUID].Legs[l.Key()]; {
			case known && r.InStep:
				recorded = "in step, seen " + moment(r.Seen)
			case known:
				recorded = "out of step since " + moment(r.Since)
			}
			alone := "no"
			if l.Alone {
				alone = "yes"
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", l.Role, l.Device, cmp.Or(l.Volume, "–"), alone, moment(l.Updated), recorded)
		}
		_ = w.Flush()
		printAdvice(out, n.Advice[s.UUID])
	}
	for _, d := range n.Mounted {
		fmt.Fprintf(out, "%s:\n", n.where())
		printAdvice(out, n.Advice[d.At])
	}
	for _, why := range n.Unread {
		fmt.Fprintf(out, "%s: whether this disk is a leg is not known: %s\n", n.where(), why)
	}
}

func stateOf(a superdisk.Array) string {
	state := a.State
	switch {
	case !a.Running():
		return state
	case a.Degraded > 0:
		state = fmt.Sprintf("%d of %d legs in step", a.Slots-a.Degraded, a.Slots)
	case a.Slots == 2:
		state = "both legs in step"
	default:
		state = fmt.Sprintf("all %d legs in step", a.Slots)
	}
	for _, l := range a.Legs {
		if l.HungFor >= superdisk.Hung {
			state += fmt.Sprintf(", the %s leg does not answer", l.Role)
		}
	}
	return state
}

// printMissing says what is known of legs that are not there, and how far a copy is.
func printMissing(out io.Writer, n superdiskNode, a superdisk.Array) {
	record := n.Record[a.Device]
	whole := "" // the role of a leg that the array was started without
	for _, key := range document.SortedKeys(record.Legs) {
		r := record.Legs[key]
		there := slices.ContainsFunc(a.Legs, func(l superdisk.Leg) bool { return record.Key(a, l) == key })
		if _, replaced := a.Leg(r.Role); !there && !r.InStep && !replaced {
			fmt.Fprintf(out, "  the %s leg %s is missing since %s\n", r.Role, key, moment(r.Since))
			if r.Whole {
				whole = string(r.Role)
			}
		}
	}
	switch {
	case a.Degraded == 0 || !a.Running():
	case a.Behind == nil && (a.Sync != nil || a.Seed != nil):
	case a.Behind == nil:
		fmt.Fprintln(out, "  how much a leg that comes back receives is not known")
	case whole == string(superdisk.Local):
		fmt.Fprintln(out, "  the array was started without its local leg: what the file system uses is copied to one that comes back")
	case whole != "":
		fmt.Fprintf(out, "  the array was started without its network leg: all %s are copied to one that comes back\n", quantity.Bytes.Format(float64(a.Size)))
	default:
		fmt.Fprintf(out, "  a leg that comes back receives %s\n", quantity.Bytes.Format(float64(*a.Behind)))
	}
	if a.Seed != nil {
		printSeed(out, *a.Seed)
	}
	if s := a.Sync; s != nil {
		fmt.Fprintf(out, "  %s: %s of %s done at %s, %s left; its rate is kept between %s and %s\n", s.Action, quantity.Bytes.Format(float64(s.Done)),
			quantity.Bytes.Format(float64(s.Total)), quantity.BytesPerSecond.Format(float64(s.Rate)), s.Left,
			quantity.BytesPerSecond.Format(float64(s.Floor)), quantity.BytesPerSecond.Format(float64(s.Ceiling)))
	}
}

// printSeed says how far the copy of used blocks is, and what governs it.
func printSeed(out io.Writer, s superdisk.Seed) {
	copied := fmt.Sprintf("%s of %s in use copied", quantity.Bytes.Format(float64(s.Done)), quantity.Bytes.Format(float64(s.Total)))
	if s.Total == 0 { // before the copy's first report
		copied = "nothing copied yet"
	}
	switch {
	case s.Interrupted():
		fmt.Fprintf(out, "  seed of %s: %s, interrupted %s ago\n", s.Target, copied, s.Idle)
		return
	case s.Total == 0:
		fmt.Fprintf(out, "  the seed of %s begins\n", s.Target)
		return
	case s.Rate > 0:
		fmt.Fprintf(out, "  seed of %s: %s at %s, %s left", s.Target, copied, quantity.BytesPerSecond.Format(float64(s.Rate)), s.Left)
	default:
		fmt.Fprintf(out, "  seed of %s: %s, nothing copied at the last look", s.Target, copied)
	}
	switch {
	case s.Bound > 0:
		fmt.Fprintf(out, "; limited to %s now, between %s and %s, so that the service's p99 stays below %s", quantity.BytesPerSecond.Format(float64(s.Limit)),
			quantity.BytesPerSecond.Format(float64(s.Floor)), quantity.BytesPerSecond.Format(float64(s.Ceiling)), s.Bound.Round(10*time.Microsecond))
	case s.Limit > 0:
		fmt.Fprintf(out, "; limited to %s", quantity.BytesPerSecond.Format(float64(s.Limit)))
	}
	fmt.Fprintln(out)
}
