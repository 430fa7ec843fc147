package loader

import (
	"maps"

	"plimsoll/load"
	"plimsoll/series"
)

// sums adds up seconds to what a load was in all, exactly.
type sums struct {
	operations []string
	total      map[string]*account
}

// account is what was booked of one operation.
type account struct {
	series.Tally
	classes                 map[string]int64
	response, service, wait *series.Histogram
}

func newSums(operations []string) *sums {
	return &sums{operations: append(operations[:len(operations):len(operations)], unknown), total: map[string]*account{}}
}

func (t *sums) add(s load.Second) {
	for _, o := range s.Operations {
		a := t.total[o.Operation]
		if a == nil {
			a = &account{classes: map[string]int64{}, response: series.NewHistogram(), service: series.NewHistogram(), wait: series.NewHistogram()}
			t.total[o.Operation] = a
		}
		a.Tally = a.Plus(o.Tally)
		for class, n := range o.ErrorClasses {
			a.classes[class] += n
		}
		a.response.Add(o.Response)
		a.service.Add(o.Service)
		a.wait.Add(o.Wait)
	}
}

// summary completes what is known of the load otherwise.
func (t *sums) summary(s load.Summary) load.Summary {
	for _, name := range t.operations {
		a := t.total[name]
		if a == nil {
			continue
		}
		i := series.Interval{
			Start: s.Start, Length: s.Length, Operation: name, Tally: a.Tally,
			Response: a.response.Snapshot(), Service: a.service.Snapshot(), Wait: a.wait.Snapshot(),
		}
		if len(a.classes) > 0 {
			i.ErrorClasses = maps.Clone(a.classes)
		}
		s.Operations = append(s.Operations, i)
	}
	s.All = series.Together(s.Start, s.Length, s.Operations)
	s.All.Operation = "all"
	return s
}
