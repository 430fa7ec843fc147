package execute

import (
	"context"
	"fmt"
	"strconv"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/series"
)

// Room is what a step may take of a node's disk, and what is free there.
type Room struct {
	Step  string       `json:"step"`
	Node  string       `json:"node"`
	What  string       `json:"what"`                 // what takes it
	Needs series.Bytes `json:"needs_bytes"`          // at most, as far as it can be known
	Free  series.Bytes `json:"free_bytes,omitempty"` // 0: nobody can look at the node's machine
}

// room estimates what steps that write a table anew take: as much as the table does now, on every node that follows too.
func (s *Service) room(ctx context.Context, on *cluster.Cluster, b *runbook.Runbook, h journal.Header) []Room {
	var all []Room
	for _, step := range h.Plan.Steps {
		if step.Skip || step.State == action.Satisfied || len(step.Later) > 0 || step.Inputs == nil {
			continue
		}
		one, err := on.Cluster(ctx, step.Cluster)
		if err != nil {
			continue
		}
		task, err := b.Bind(step.Uses, step.Inputs)
		if err != nil {
			continue
		}
		rewriting, is := task.(action.Rewriting)
		if !is {
			continue
		}
		for _, table := range rewriting.Rewrites() {
			all = append(all, roomFor(ctx, one, step.Key, table)...)
		}
	}
	return all
}

// roomFor asks how large a table is, and what is free where each node keeps its data.
func roomFor(ctx context.Context, on *cluster.Cluster, step string, t action.Table) []Room {
	nodes, err := on.List(ctx)
	if err != nil || on.Engine == nil {
		return nil
	}
	var all []Room
	for _, n := range nodes {
		db, err := on.Database(ctx, n.Name)
		if err != nil {
			continue
		}
		sized, can := engine.As[engine.Sized](db)
		if !can {
			return nil
		}
		bytes, folder, err := sized.TableSize(ctx, t.Database, t.Name)
		if err != nil || bytes == 0 {
			continue
		}
		r := Room{Step: step, Node: n.Name, What: "a copy of table " + t.String(), Needs: series.Bytes(bytes)}
		if n.Data != "" {
			folder = n.Data
		}
		if n.Machine != nil && folder != "" {
			if space, err := n.Machine.Space(ctx, folder); err == nil {
				r.Free = series.Bytes(space.DiskFree)
			}
		}
		all = append(all, r)
	}
	return all
}

// String says what is taken of what: what is needed is rounded up, what is free is rounded down.
func (r Room) String() string {
	text := fmt.Sprintf("step %s takes about %s on %s for %s", r.Step, inMiB(r.Needs+unitOf(r.Needs)-1), r.Node, r.What)
	if r.Free > 0 {
		return text + fmt.Sprintf("; %s is free", inMiB(r.Free))
	}
	return text + "; Plimsoll cannot see from here how much is free there"
}

// Trouble refuses what does not fit.
func (r Room) Trouble() error {
	if r.Free == 0 || r.Needs < r.Free {
		return nil
	}
	return hint.With(fmt.Errorf("too little disk: %s", r), "free some, or choose an algorithm that copies nothing: INSTANT, or INPLACE where it does not rebuild the table")
}

// unitOf is in which a size is written: GiB from ten of them on, else MiB.
func unitOf(b series.Bytes) series.Bytes {
	if b >= 10<<30 {
		return 1 << 30
	}
	return 1 << 20
}

func inMiB(b series.Bytes) string {
	unit := unitOf(b)
	switch n := strconv.FormatInt(int64(b/unit), 10); {
	case b < unit:
		return "less than 1 MiB"
	case unit == 1<<30:
		return n + " GiB"
	default:
		return n + " MiB"
	}
}
