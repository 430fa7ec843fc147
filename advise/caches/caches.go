// Package caches tells what the caches of a database say of their size where it shows no more of them than counters, as Cassandra does.
package caches

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
	"plimsoll/hint"
)

// Observe reads the counters twice, so long apart.
func Observe(ctx context.Context, db engine.CacheCounting, span time.Duration) (*advise.Caches, error) {
	began := time.Now()
	before, err := db.Caches(ctx)
	if engine.ClassOf(err) == engine.Missing {
		return nil, &hint.PermanentError{Reason: "this server does not show its caches over CQL: " + err.Error(), Advice: "Cassandra does from version 4 on; ScyllaDB shows them in its metrics"}
	}
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	after, err := db.Caches(ctx)
	if err != nil {
		return nil, err
	}
	return between(before, after, began, time.Since(began)), nil
}

// between compares two looks. A node that was restarted in between counts from its start, and one that was not there before is left out.
func between(before, after []engine.Cache, at time.Time, took time.Duration) *advise.Caches {
	seen := &advise.Caches{At: at, Looked: took, Notes: notes}
	for _, now := range after {
		n := slices.IndexFunc(before, func(c engine.Cache) bool { return c.Node == now.Node && c.Name == now.Name })
		if n < 0 || now.Requests < before[n].Requests {
			seen.Notes = append(slices.Clone(seen.Notes), fmt.Sprintf("%s: node %s was restarted during the observation, so it is left out.", now.Name, now.Node))
			continue
		}
		requests, hits := float64(now.Requests-before[n].Requests), float64(now.Hits-before[n].Hits)
		c := advise.Cache{Node: now.Node, Name: now.Name, Setting: now.Setting, Capacity: now.Capacity, Size: now.Size, Requests: requests / took.Seconds()}
		if requests > 0 {
			c.HitRatio = hits / requests
		}
		c.Missed = c.Requests * (1 - c.HitRatio)
		c.Means = means(c, fullIn(before[n], now, took))
		seen.Caches = append(seen.Caches, c)
	}
	if !slices.ContainsFunc(after, func(c engine.Cache) bool { return c.Name == "chunks" }) {
		seen.Notes = append(slices.Clone(seen.Notes), "The chunk cache is not listed, so it is off: file_cache_enabled in cassandra.yaml turns it on.")
	}
	slices.SortFunc(seen.Caches, func(a, b advise.Cache) int {
		return strings.Compare(a.Node+" "+a.Name, b.Node+" "+b.Name)
	})
	return seen
}

// full is the part of its capacity from which on a cache counts as full: it drops entries to stay below all of it.
const full = 0.9

// fullIn is how long a cache takes until it is full if it goes on growing as it did in some time; 0: it does not grow.
func fullIn(before, now engine.Cache, took time.Duration) time.Duration {
	grown := now.Size - before.Size
	if grown <= 0 {
		return 0
	}
	return time.Duration(min(took.Seconds()*float64(now.Capacity-now.Size)/float64(grown), 1e9) * float64(time.Second))
}

// means says what the counters allow to say of another size.
func means(c advise.Cache, fullIn time.Duration) string {
	switch {
	case c.Capacity == 0 && c.Requests > 0:
		return "it is off, but its counters show requests"
	case c.Capacity == 0:
		return "it is off"
	case c.Requests == 0:
		return "it gets no requests, so its memory has no effect now"
	case float64(c.Size) < full*float64(c.Capacity) && fullIn > 0 && fullIn < 24*time.Hour:
		return fmt.Sprintf("it is being filled, as after a restart, and at this pace it is full in %s: only then do its counters tell something about another size", fullIn.Round(time.Second))
	case float64(c.Size) < full*float64(c.Capacity):
		return "it is not full, so more memory would change nothing"
	}
	return "it is full: more memory can avoid a part of its misses; its counters do not show how large a part"
}

var notes = []string{
	"Cassandra counts what its caches answer, but does not show when an entry was last used. So its reads with another cache size cannot be predicted from the running ring; a trial with the other setting measures them.",
	"The heap and the page cache of the operating system are not shown over CQL: nodetool info shows the heap; the chunk cache is outside of the heap.",
}
