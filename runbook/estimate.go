package runbook

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
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
	var r Rehearsal
	if json.Unmarshal(data, &r) == nil && r.Run != "" {
		return r.Took
	}
	var took map[string]float64
	if json.Unmarshal(data, &took) != nil {
		return nil
	}
	return took
}

// whole is the id of all that a group does to all of its targets, which counts while they are not known.
func whole(group string) string { return group + "[]" }

// timings are how long the parts of this run's work took: of several targets, the longest; and the whole of each group.
func (s *State) timings() map[string]float64 {
	took := map[string]float64{}
	for _, i := range s.Items {
		if i.Phase == Settled && i.Step.Uses != "" {
			took[i.Step.ID] = max(took[i.Step.ID], i.Took.Seconds())
			if i.Group != "" {
				took[whole(i.Group)] += i.Took.Seconds()
			}
		}
	}
	for group, d := range s.Settling {
		took[group] = d.Seconds()
	}
	return took
}

// part is a piece of a run's work.
type part struct {
	key, id string
	over    bool
}

// parts are all pieces of a run: those of groups whose targets are not known yet as the plan saw them.
func (s *State) parts() []part {
	var all []part
	known := map[string]bool{}
	for _, i := range s.Items {
		known[i.Key] = true
		if i.Step.Uses != "" { // people take their time, which is no work
			all = append(all, part{i.Key, i.Step.ID, i.Over()})
		}
		if health := i.Group + "[" + i.Target + "]"; i.Group != "" && !known[health] {
			known[health] = true
			all = append(all, part{health, i.Group, s.Healthy[health] || i.Over()})
		}
	}
	for _, step := range s.Header.Plan.Steps {
		group, _, grouped := strings.Cut(step.Key, "[")
		_, targeted := s.Targets[group]
		switch {
		case step.Group() && !targeted:
			all = append(all, part{step.Key, whole(step.Key), false})
		case !known[step.Key] && step.Uses != "" && !step.Skip && (!grouped || !targeted):
			all = append(all, part{step.Key, idOf(step.Key), false})
		}
	}
	return all
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
		if !strings.HasSuffix(id, whole("")) {
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
func (l learned) total(p Plan) float64 {
	var sum float64
	for _, step := range p.Steps {
		if step.Uses != "" && !step.Skip && step.State != action.Satisfied && len(l) > 0 {
			sum += l.weight(idOf(step.Key))
		}
		if step.Group() {
			sum += l[whole(step.Key)]
		}
	}
	return sum
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// idOf is the id of a step, without its group and target.
func idOf(key string) string { return key[strings.LastIndex(key, ".")+1:] }
