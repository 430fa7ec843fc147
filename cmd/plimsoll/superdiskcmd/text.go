package superdiskcmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
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
		found = found || len(n.Arrays) > 0
		printSuperdisks(c.Prose(), n)
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

func printSuperdisks(out io.Writer, n superdiskNode) {
	for _, a := range n.Arrays {
		where := n.Machine
		if n.Node != "" {
			where = n.Node + " on " + n.Machine
		}
		fmt.Fprintf(out, "%s: %s (%s), %s, %s", where, a.Label(), a.Device, quantity.Bytes.Format(float64(a.Size)), stateOf(a))
		if a.Mount != "" {
			fmt.Fprintf(out, ", %s at %s", a.Files, a.Mount)
		}
		fmt.Fprintf(out, "\n  array %s, kernel %s\n", a.UUID, n.Kernel.Release)
		w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  LEG\tDEVICE\tVOLUME\tSTATE\tSINCE\tERRORS\tBAD\tREADS\tWRITES\tIN FLIGHT")
		for _, l := range a.Legs {
			since := "–"
			if r, known := n.Record[a.Device].Legs[l.Key()]; known && r.InStep == l.InStep() {
				since = r.Since.Format(time.DateTime)
			}
			volume := l.Volume
			if volume == "" {
				volume = "–"
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%d\n", l.Role, l.Device, volume, strings.Join(l.State, ","), since, l.Errors, l.BadBlocks,
				quantity.Count.Format(float64(l.IO.Reads)), quantity.Count.Format(float64(l.IO.Writes)), l.IO.InFlight)
		}
		_ = w.Flush()
		printMissing(out, n, a)
		for _, advice := range n.Advice[a.Device] {
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
}

func stateOf(a superdisk.Array) string {
	switch {
	case !a.Running():
		return a.State
	case a.Degraded > 0:
		return fmt.Sprintf("%d of %d legs in step", a.Slots-a.Degraded, a.Slots)
	}
	return fmt.Sprintf("all %d legs in step", a.Slots)
}

// printMissing says what is known of legs that are not there, and how far a copy is.
func printMissing(out io.Writer, n superdiskNode, a superdisk.Array) {
	record := n.Record[a.Device]
	for _, key := range document.SortedKeys(record.Legs) {
		r := record.Legs[key]
		_, there := legBy(a, key)
		if _, replaced := a.Leg(r.Role); !there && !r.InStep && !replaced {
			fmt.Fprintf(out, "  the %s leg %s is missing since %s\n", r.Role, key, r.Since.Format(time.DateTime))
		}
	}
	if a.Behind != nil {
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

func legBy(a superdisk.Array, key string) (superdisk.Leg, bool) {
	for _, l := range a.Legs {
		if l.Key() == key {
			return l, true
		}
	}
	return superdisk.Leg{}, false
}
