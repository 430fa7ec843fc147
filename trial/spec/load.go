package spec

import (
	"reflect"
	"slices"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
)

// Load is a workload and how it is issued.
type Load struct {
	Workload    string        `yaml:"workload,required" doc:"oltp_read_write and its siblings, tpcc, ycsb-a to ycsb-f, or the path of a file of your own ending in .yaml, relative to the trial's folder."`
	Connections int           `yaml:"connections,nonzero" doc:"Closed loop: how many connections work one operation after another. With a rate: the most operations in flight. Default 16, with a rate 64."`
	Rate        Rate          `yaml:"rate" doc:"Open loop: operations per second that arrive independently of the server. 500, 500/s, 50% of max (the maximum is found first), or a list of stages: {rate: 500, for: 1m} holds, {ramp: 500..2000, for: 2m} rises."`
	Arrivals    Arrivals      `yaml:"arrivals" doc:"With a rate: uniform or poisson. Default poisson."`
	To          Destination   `yaml:"to" doc:"primary: the server that accepts writes, also after it changes. all: every node of the cluster, with the connections divided among them, for workloads that only read. Default primary."`
	Reads       Reads         `yaml:"reads_from" doc:"primary: reads go to the primary too. replicas: operations that only read are spread over the replicas that answer and do not lag too far, which Plimsoll checks every second. If there is none, the primary serves them. Default primary."`
	MaxBehind   time.Duration `yaml:"max_behind" doc:"With reads_from: replicas, how old the data of a replica may be: its lag as its server estimates it, or its lag when it last replicated plus the time since. Default 5s."`
	Cache       *ReadCache    `yaml:"cache" doc:"A read cache in front of the database: {memory: 64M, for: 10m}, a real Valkey beside the lab's servers. Statements that only read, outside of transactions, ask the cache first, and the database's answers are stored in it. It starts empty in every cell and round."`
	Limit       time.Duration `yaml:"limit,nonzero" doc:"Response time above which an operation counts as late, or is skipped unsent. Default none."`
	On          []string      `yaml:"on" doc:"With topology separate: the nodes over which the load is divided, each with a data set of its own in the databases app1, app2 and so on. Default: the node that accepts writes."`
	From        []string      `yaml:"from" doc:"Machines on which loader processes issue the load together: [ssh:loader1, ssh:loader2], names under machines: of plimsoll.yaml, or local, where Plimsoll runs. Together they issue exactly the load that one process would issue, and their histograms are merged. Default: Plimsoll's own process."`
	Timeout     time.Duration `yaml:"timeout,nonzero" doc:"An operation that takes longer is cancelled and counts as an error. Default 30s."`
	Consistency string        `yaml:"consistency" doc:"For a ring: the consistency level of each statement, such as ONE, LOCAL_QUORUM or ALL. Default LOCAL_QUORUM."`
	Ledger      *Ledger       `yaml:"ledger" doc:"Writes a ledger beside the workload, to count lost writes: {rate: 200}, and parameters of the workload ledger. Its operations are not part of any other metric."`

	Parameters *document.Node `yaml:"-"` // of the workload: every other key
}

// UnmarshalDocument reads the keys of a load and leaves the others to the workload.
func (l *Load) UnmarshalDocument(n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s, expected a mapping with workload and its parameters", n.Kind)
	}
	type plain Load // without this method
	var err error
	if l.Parameters, err = decodeOwn(n, (*plain)(l)); n.Get("workload") != nil {
		return err
	}
	var ps document.Problems
	ps.Add(n, err)
	keys := document.Keys(reflect.TypeFor[Load]())
	for _, e := range l.Parameters.Entries { // no workload takes it: it may be the workload itself, misspelt
		if document.Nearest(e.Key, keys) == "workload" {
			ps = append(ps, document.UnknownKey(e, keys))
		}
	}
	return ps.Err()
}

// decodeOwn reads a struct's own keys into it, a pointer, and returns a mapping with the others: a workload's parameters.
func decodeOwn(n *document.Node, into any) (*document.Node, error) {
	keys := document.Keys(reflect.TypeOf(into).Elem())
	own, rest := *n, *n
	own.Entries, rest.Entries = nil, nil
	for _, e := range n.Entries {
		if slices.Contains(keys, e.Key) {
			own.Entries = append(own.Entries, e)
		} else {
			rest.Entries = append(rest.Entries, e)
		}
	}
	return &rest, own.Decode(into)
}

// suit refuses a consistency that the engine does not have.
func (l Load) suit(n *document.Node, e engine.Engine) error {
	if l.Consistency == "" {
		return nil
	}
	c, ok := e.(engine.Consistent)
	if !ok {
		return n.Get("consistency").Errorf("consistency, which %s does not have", e.Name())
	}
	if known := c.Consistencies(); !slices.Contains(known, l.Consistency) {
		return document.UnknownName(n.Get("consistency"), "consistency", known)
	}
	return nil
}

// Open tells whether operations arrive at a rate.
func (l Load) Open() bool { return l.Rate.Share > 0 || len(l.Rate.Curve) > 0 }

// Check completes a load that stands by itself, by the rules of one in a trial. What is wrong is told of the places at which its keys are written.
func (l *Load) Check(parts Parts, at func(key string) *document.Node) error {
	l.defaults()
	var ps document.Problems
	ps.Add(nil, l.validate(at))
	ps.Add(nil, parts.checkFrom(*l, at))
	return ps.Err()
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

// Destination is which nodes a load goes to.
type Destination string

// The destinations.
const (
	ToPrimary Destination = "primary" // the server that takes the writes, whichever that is
	ToAll     Destination = "all"     // every node of the cluster, each its part of the connections
)

// UnmarshalDocument reads a destination.
func (d *Destination) UnmarshalDocument(n *document.Node) error {
	*d = Destination(n.Text)
	if *d != ToPrimary && *d != ToAll {
		return document.UnknownName(n, "destination", []string{string(ToPrimary), string(ToAll)})
	}
	return nil
}
