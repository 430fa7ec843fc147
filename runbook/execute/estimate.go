package execute

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// learned is how long parts of the work took in earlier runs of the runbook, in seconds: steps by their id, and waiting for a
// healthy cluster by the id of the group.
type learned map[string]float64

// lastRuns is of how many earlier runs the median is taken.
const lastRuns = 5

// learn takes the median of the last runs, rehearsals in trials among them.
func (s *Service) learn(ctx context.Context, name string) learned {
	timings, err1 := s.Store.Records(ctx, "timing", name)
	rehearsals, err2 := s.Store.Records(ctx, "rehearsal", name)
	if err1 != nil || err2 != nil {
		return nil // an estimate is worth no failure
	}
	records := slices.Concat(timings, rehearsals)
	slices.SortFunc(records, func(a, b durable.Record) int { return cmp.Compare(b.At.UnixMicro(), a.At.UnixMicro()) })
	all, runs := map[string][]float64{}, 0
	for _, r := range records {
		took := timing(r.Data)
		if len(took) == 0 || runs == lastRuns {
			continue
		}
		runs++
		for id, seconds := range took {
			all[id] = append(all[id], seconds)
		}
	}
	out := learned{}
	for id, seconds := range all {
		out[id] = median(seconds)
	}
	return out
}

// timing reads a record of either kind.
func timing(data json.RawMessage) map[string]float64 {
	var r journal.Rehearsal
	if json.Unmarshal(data, &r) == nil && r.Run != "" {
		return r.Took
	}
	var took map[string]float64
	if json.Unmarshal(data, &took) != nil {
		return nil
	}
	return took
}

// weight is what a part counts: what it took before, an unknown one like the mean of the known.
func (l learned) weight(id string) float64 {
	if w, ok := l[id]; ok {
		return w
	}
	if len(l) == 0 {
		return 1
	}
	var sum, n float64
	for id, w := range l {
		if !strings.HasSuffix(id, journal.WholeGroup("")) {
			sum, n = sum+w, n+1
		}
	}
	return sum / max(n, 1)
}

// elapsed is how much of a part that does not say it may be done after so long: never quite all of it.
func (l learned) elapsed(id string, took time.Duration) float64 {
	if w, ok := l[id]; ok {
		return min(0.95, took.Seconds()/max(w, 1))
	}
	return took.Seconds() / (took + unknownLength).Seconds()
}

// unknownLength is when a part of which nothing is known is taken to be half done.
const unknownLength = time.Minute

// total is what a plan would take, in seconds; 0 when nothing is known.
func (l learned) total(p journal.Plan) float64 {
	var sum float64
	for _, step := range p.Steps {
		if step.Uses != "" && !step.Skip && step.State != action.Satisfied && len(l) > 0 {
			sum += l.weight(runbook.IDOf(step.Key))
		}
		if step.Group() {
			sum += l[journal.WholeGroup(step.Key)]
		}
	}
	return sum
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
