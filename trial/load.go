package trial

import (
	"reflect"
	"slices"
	"time"

	"plimsoll/internal/document"
	"plimsoll/load"
)

// Load is a workload and how it is issued.
type Load struct {
	Workload    string        `yaml:"workload,required" doc:"oltp_read_write and its siblings, tpcc, ycsb-a to ycsb-f, or the path of a file of your own ending in .yaml."`
	Connections int           `yaml:"connections" doc:"Closed loop: how many connections work one operation after another. With a rate: the most operations in flight. Default 16, with a rate 64."`
	Rate        Rate          `yaml:"rate" doc:"Open loop: operations per second that arrive whatever the server does. 500, 500/s, 50% of max (the maximum is found first), or a list of stages: {rate: 500, for: 1m} holds, {ramp: 500..2000, for: 2m} rises."`
	Arrivals    Arrivals      `yaml:"arrivals" doc:"With a rate: uniform or poisson. Default poisson."`
	Limit       time.Duration `yaml:"limit" doc:"Response time above which an operation counts as late, or is skipped unsent. Default none."`
	Timeout     time.Duration `yaml:"timeout" doc:"An operation under way longer is broken off and counts as an error. Default 30s."`

	Parameters *document.Node `yaml:"-"` // of the workload: every other key
}

// UnmarshalDocument reads the keys of a load and leaves the others to the workload.
func (l *Load) UnmarshalDocument(n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s, expected a mapping with workload and its parameters", n.Kind)
	}
	own, rest := *n, *n
	own.Entries, rest.Entries = nil, nil
	for _, e := range n.Entries {
		if isLoadKey(e.Key) {
			own.Entries = append(own.Entries, e)
		} else {
			rest.Entries = append(rest.Entries, e)
		}
	}
	l.Parameters = &rest
	type plain Load // without this method
	return own.Decode((*plain)(l))
}

// isLoadKey tells the load's own keys from the workload's parameters.
func isLoadKey(key string) bool { return slices.Contains(document.Keys(reflect.TypeFor[Load]()), key) }

// Open tells whether operations arrive at a rate.
func (l Load) Open() bool { return l.Rate.Share > 0 || len(l.Rate.Curve) > 0 }

// ReadLoad reads a load that stands by itself.
func ReadLoad(n *document.Node) (Load, error) {
	var l Load
	if err := n.Decode(&l); err != nil {
		return l, err
	}
	l.defaults()
	return l, l.validate(n)
}

// Schedule returns the arrivals of an open loop; most is the maximum that a share is of. The stages begin after the lead,
// during which the first rate is held; the last rate is held after them.
func (l Load) Schedule(most float64, lead time.Duration, seed uint64) (load.Schedule, error) {
	curve := l.Rate.Curve
	if l.Rate.Share > 0 {
		curve = []RateStage{{From: l.Rate.Share * most, To: l.Rate.Share * most}}
	}
	var stages []load.Stage
	if first := curve[0].From; lead > 0 {
		stages = append(stages, load.Stage{From: first, To: first, For: lead})
	}
	for _, s := range curve {
		if s.For > 0 {
			stages = append(stages, load.Stage(s))
		}
	}
	stages = append(stages, load.Constant(curve[len(curve)-1].To))
	if l.Arrivals == Uniform {
		return load.Uniform(stages...)
	}
	return load.Poisson(seed, stages...)
}
