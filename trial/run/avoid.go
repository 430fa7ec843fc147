package run

import (
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/series"
)

// avoided makes events of nodes that the load keeps away from because they owe it answers, and to which it returns. What
// hangs while nothing is done to the cluster is no part of the question: a baseline with it is none.
func (d *cellRun) avoided(s load.Second) {
	var now []string
	for _, db := range d.sources {
		if a, ok := engine.As[engine.Avoiding](db); ok {
			now = append(now, a.Avoids()...)
		}
	}
	slices.Sort(now)
	now = slices.Compact(now)
	tell := func(kind series.EventKind, here, there []string) {
		for _, address := range here {
			if !slices.Contains(there, address) {
				d.happened(series.Event{Time: s.Start, Kind: kind, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"address": address}})
			}
		}
	}
	tell(series.LoadAvoids, now, d.avoids)
	tell(series.LoadReturns, d.avoids, now)
	d.avoids = now
	for _, address := range now {
		if d.hung == nil {
			d.hung = map[hang]time.Duration{}
		}
		d.hung[hang{d.now.Phase, address}] += time.Second
	}
}

// hang is where and when a node owed answers.
type hang struct{ phase, address string }

// judgeHung says of the undisturbed phases in which nodes hung.
func (d *cellRun) judgeHung() {
	for _, at := range slices.SortedFunc(maps.Keys(d.hung), func(a, b hang) int { return strings.Compare(a.address, b.address) }) {
		owed := d.hung[at]
		switch at.phase {
		case "baseline":
			d.invalidate("%s, baseline: the node at %s accepted requests but answered none for %v, although nothing was done to it", where(d.cell.Name, d.round), at.address, owed)
		case "measure":
			d.note("%s, measure: the node at %s accepted requests but answered none for %v; the load went to the other nodes", where(d.cell.Name, d.round), at.address, owed)
		}
	}
}
