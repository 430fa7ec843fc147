package series

import "time"

// Together is the interval of several operations taken as one: tallies added, latencies merged.
func Together(start time.Time, length time.Duration, operations []Interval) Interval {
	out := Interval{Start: start, Length: length}
	var responses, services, waits []Snapshot
	for _, o := range operations {
		out.Tally = out.Plus(o.Tally)
		for class, n := range o.ErrorClasses {
			if out.ErrorClasses == nil {
				out.ErrorClasses = map[string]int64{}
			}
			out.ErrorClasses[class] += n
		}
		responses, services, waits = append(responses, o.Response), append(services, o.Service), append(waits, o.Wait)
	}
	out.Response, out.Service, out.Wait = mergeAll(responses), mergeAll(services), mergeAll(waits)
	return out
}

// mergeAll is Merge that copies nothing when there is at most one that holds anything.
func mergeAll(all []Snapshot) Snapshot {
	var only Snapshot
	full := 0
	for _, s := range all {
		if s.Count() > 0 {
			only, full = s, full+1
		}
	}
	if full < 2 {
		return only
	}
	return Merge(all...).Snapshot()
}
