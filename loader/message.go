package loader

import (
	"errors"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/workload"
)

// protocol is the number of this conversation. It rises when an older loader would misunderstand.
const protocol = 1

// order is a line from the team to a loader: one of these.
type order struct {
	Job   *jobOrder      `json:"job,omitempty"`
	Ask   int            `json:"ask,omitempty"`   // what the clock says; the answer bears this number
	Begin *time.Duration `json:"begin,omitempty"` // at this moment of the loader's clock
	Stop  bool           `json:"stop,omitempty"`  // start no more operations
	Bye   bool           `json:"bye,omitempty"`   // end
}

// report is a line from a loader to the team: one of these.
type report struct {
	Hello  *hello        `json:"hello,omitempty"`
	Ready  bool          `json:"ready,omitempty"` // every connection is there
	Clock  *reading      `json:"clock,omitempty"`
	Second *secondReport `json:"second,omitempty"`
	End    *endReport    `json:"end,omitempty"`
	Error  string        `json:"error,omitempty"` // the load did not begin
}

// hello comes first, unasked.
type hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
}

// jobOrder is a job with the part that is the loader's.
type jobOrder struct {
	Target     targetOrder   `json:"target"`
	Workload   string        `json:"workload"`
	File       []byte        `json:"file,omitempty"`
	Parameters string        `json:"parameters"`
	Seed       uint64        `json:"seed"`
	Part       workload.Part `json:"part"`

	Operations  []string      `json:"operations"`
	Connections int           `json:"connections"` // of all loaders
	FirstWorker int           `json:"first_worker"`
	Schedule    *load.Recipe  `json:"schedule,omitempty"` // of all loaders
	Duration    time.Duration `json:"duration"`
	Limit       time.Duration `json:"limit"`
	Timeout     time.Duration `json:"timeout"`
	Grace       time.Duration `json:"grace"`
}

// targetOrder is an engine.Target that does carry its password: it goes to a process of our own and nowhere else.
type targetOrder struct {
	Engine    string            `json:"engine"`
	Addresses []string          `json:"addresses"`
	Namespace string            `json:"namespace"`
	User      string            `json:"user"`
	Password  string            `json:"password"`
	Options   map[string]string `json:"options,omitempty"`
	Timeout   time.Duration     `json:"timeout"`
}

// reading is a loader's clock: the time since it was started.
type reading struct {
	Ask int           `json:"ask"`
	Now time.Duration `json:"now"`
}

// secondReport is a load.Second that counts from the beginning of the load.
type secondReport struct {
	Start      time.Duration     `json:"start"`
	Length     time.Duration     `json:"length"`
	Operations []series.Interval `json:"operations"`
	Guard      load.GuardSecond  `json:"guard"`
}

// endReport is what a loader knows at the end and no second told.
type endReport struct {
	Length   time.Duration     `json:"length"`
	Stopped  bool              `json:"stopped"` // before the load was over
	Examples map[string]string `json:"examples"`
	CPU      time.Duration     `json:"cpu"`
	MaxRSS   series.Bytes      `json:"max_rss"`
}

// newJobOrder puts a job and how it is issued into words.
func newJobOrder(j Job, spec load.Spec, part workload.Part) (*jobOrder, error) {
	o := &jobOrder{
		Target: targetOrder{
			Engine: j.Target.Engine, Addresses: j.Target.Addresses, Namespace: j.Target.Namespace,
			User: j.Target.User, Password: string(j.Target.Password), Options: j.Target.Options, Timeout: j.Target.Timeout,
		},
		Workload: j.Workload, File: j.File, Parameters: j.Parameters, Seed: j.Seed, Part: part,
		Operations: spec.Operations, Connections: spec.Connections, FirstWorker: spec.FirstWorker,
		Duration: spec.Duration, Limit: spec.Limit, Timeout: spec.Timeout, Grace: spec.Grace,
	}
	if spec.Schedule == nil {
		return o, nil
	}
	recipe, can := spec.Schedule.Recipe()
	if !can {
		return nil, errors.New("this schedule cannot be divided among several processes")
	}
	o.Schedule = &recipe
	return o, nil
}

func (o *jobOrder) job() Job {
	t := o.Target
	return Job{
		Target: engine.Target{
			Engine: t.Engine, Addresses: t.Addresses, Namespace: t.Namespace,
			User: t.User, Password: engine.Secret(t.Password), Options: t.Options, Timeout: t.Timeout,
		},
		Workload: o.Workload, File: o.File, Parameters: o.Parameters, Seed: o.Seed,
	}
}

// spec is the loader's part of the load.
func (o *jobOrder) spec() (load.Spec, error) {
	spec := load.Spec{
		Operations: o.Operations, Connections: o.Connections, FirstWorker: o.FirstWorker,
		Duration: o.Duration, Limit: o.Limit, Timeout: o.Timeout, Grace: o.Grace,
	}
	if o.Schedule != nil {
		s, err := o.Schedule.Schedule()
		if err != nil {
			return spec, err
		}
		spec.Schedule = s
	}
	return spec.Part(o.Part.Index, o.Part.Of), nil
}
