package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/engine"
)

// health is which servers are replicas that may be read, as far as it was seen.
type health struct {
	asked     *databases
	maxBehind time.Duration
	replicas  map[string]*replica
	looks     int
}

// replica is what was seen of a server.
type replica struct {
	fresh time.Time // of what moment its data is, at least; zero: not known
	well  int       // looks in a row at which nothing was wrong
}

// convincing is how many looks in a row must find a replica well that was not: one that has only just connected to its source
// does not know yet how far it is behind, and says not at all.
const convincing = 2

// errNoReplica says of a server that it follows nobody: a primary, or one that is part of nothing yet.
var errNoReplica = errors.New("it replicates from no server")

// examine asks all servers at the same time, and returns which may be read, and what is wrong with other replicas.
func (h *health) examine(ctx context.Context, nodes []string) (healthy []string, left map[string]error) {
	answers := make([]engine.ReplicationStatus, len(nodes))
	faults := make([]error, len(nodes))
	var asking sync.WaitGroup
	for i, node := range nodes {
		asking.Go(func() {
			limited, cancel := context.WithTimeout(ctx, answerTime)
			defer cancel()
			answers[i], faults[i] = h.ask(limited, node)
		})
	}
	asking.Wait()
	if ctx.Err() != nil {
		return nil, nil
	}
	h.looks++
	healthy, left = []string{}, map[string]error{}
	for i, node := range nodes {
		fault := faults[i]
		if fault == nil {
			fault = h.judge(node, answers[i], time.Now())
		}
		switch {
		case fault == nil && h.convinced(node):
			healthy = append(healthy, node)
		case fault != nil:
			if seen := h.replicas[node]; seen != nil {
				seen.well = 0
			}
			if !errors.Is(fault, errNoReplica) {
				left[node] = fault
			}
		}
	}
	for node := range h.replicas {
		if !slices.Contains(nodes, node) {
			delete(h.replicas, node)
		}
	}
	_ = h.asked.keep(nodes) // they were only asked
	slices.Sort(healthy)
	return healthy, left
}

func (h *health) ask(ctx context.Context, node string) (engine.ReplicationStatus, error) {
	db, err := h.asked.get(ctx, node)
	if err != nil {
		return engine.ReplicationStatus{}, err
	}
	replicated, ok := engine.As[engine.Replicated](db)
	if !ok {
		return engine.ReplicationStatus{}, errors.New("its database has no replicas")
	}
	return replicated.ReplicationStatus(ctx)
}

// judge is why a server that answered is not to be read: it follows nobody, or what it shows is too old. What it showed when it
// last replicated grows older while it does not.
func (h *health) judge(node string, is engine.ReplicationStatus, now time.Time) error {
	if len(is.Sources) == 0 {
		return errNoReplica
	}
	behind, trouble := time.Duration(0), ""
	for _, s := range is.Sources {
		if !s.Receives || !s.Applies || s.Behind < 0 {
			trouble = "it does not replicate"
			if s.Trouble != "" {
				trouble += ": " + s.Trouble
			}
		}
		behind = max(behind, s.Behind)
	}
	seen := h.replicas[node]
	if seen == nil {
		seen = &replica{}
		h.replicas[node] = seen
	}
	if trouble == "" {
		seen.fresh = now.Add(-behind)
	}
	switch {
	case !seen.fresh.IsZero() && now.Sub(seen.fresh) <= h.maxBehind:
		return nil
	case trouble != "":
		return errors.New(trouble)
	}
	return fmt.Errorf("it is %s behind", behind)
}

// convinced counts a look that found a replica well. At the first look at all it is enough.
func (h *health) convinced(node string) bool {
	seen := h.replicas[node]
	seen.well++
	if h.looks == 1 {
		seen.well = convincing
	}
	return seen.well >= convincing
}
