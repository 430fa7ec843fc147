package loadcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// readReplicas finds the healthy ones of a target's addresses, from then on all the time, and says which these are.
func readReplicas(ctx context.Context, c console.Streams, t engine.Target, w workload.Workload, issue spec.Load) (*workload.Readers, error) {
	if len(t.Addresses) < 2 {
		return nil, console.UsageError{Text: "--reads replicas with one address", Hint: "name the primary and its replicas in --target, such as --target mysql://user@primary,replica,replica/database"}
	}
	e, err := catalog.EngineOf(t)
	if err != nil {
		return nil, err
	}
	if !catalog.Parts().Replicates(e) {
		return nil, console.UsageError{Text: "--reads replicas, but " + e.Name() + " has no replicas of a primary", Hint: "leave it out"}
	}
	if reading, ok := w.(workload.Reading); !ok || !slices.Contains(reading.ReadOnly(), true) {
		return nil, console.UsageError{Text: "--reads replicas, but " + w.Name() + " has no operation that only reads"}
	}
	return workload.NewReaders(ctx, workload.Replicas{
		Nodes: func() []string { return t.Addresses }, MaxBehind: issue.MaxBehind,
		Open: func(ctx context.Context, address string) (engine.Database, error) {
			one := t
			one.Addresses = []string{address}
			return e.Open(ctx, one)
		},
		Changed: func(read []string, left map[string]error) {
			said := "the primary answers all reads, because no replica can"
			if len(read) > 0 {
				said = "reads: " + strings.Join(read, ", ")
			}
			for _, address := range document.SortedKeys(left) {
				said += fmt.Sprintf("; not %s: %v", address, left[address])
			}
			fmt.Fprintln(c.Err, said)
		},
	}), nil
}

// answered are the reads that each server has answered so far.
func answered(r *workload.Readers) map[string]int64 {
	if r == nil {
		return nil
	}
	counts := r.Answered()
	counts[string(spec.ReadPrimary)] = counts[""]
	delete(counts, "")
	return counts
}

// since takes away what was answered before: by a warmup.
func since(before, now map[string]int64) map[string]int64 {
	for node := range now {
		now[node] -= before[node]
	}
	return now
}

func sharesOf(reads map[string]int64) string {
	total := int64(0)
	for _, n := range reads {
		total += n
	}
	var shares []string
	for _, node := range document.SortedKeys(reads) {
		shares = append(shares, fmt.Sprintf("%s %.1f %%", node, 100*float64(reads[node])/float64(max(total, 1))))
	}
	return strings.Join(shares, ", ")
}
