package loadcmd

import (
	"fmt"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/loader"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// issue is how the load is issued, by the rules of a trial.
func (o *runOptions) issue() (spec.Load, error) {
	l := spec.Load{Workload: o.workload, Connections: o.connections, Limit: o.limit, From: o.from, MaxBehind: o.maxBehind, Timeout: o.timeout}
	var ps document.Problems
	ps.Add(nil, l.Reads.UnmarshalDocument(flag("reads", o.reads)))
	if o.rate != "" {
		rate, err := document.FlagValue("--rate", o.rate) // a list of stages is written as in a trial
		if err == nil {
			err = l.Rate.UnmarshalDocument(rate)
		}
		ps.Add(nil, err)
		ps.Add(nil, l.Arrivals.UnmarshalDocument(flag("arrivals", o.arrivals)))
	}
	if len(ps) == 0 {
		ps.Add(nil, l.Check(catalog.Parts(), o.written))
	}
	return l, ps.Err()
}

// written is the flag that says a key of a load; nil: it was not given.
func (o *runOptions) written(key string) *document.Node {
	switch {
	case key == "connections":
		return flag("connections", "")
	case key == "reads_from":
		return flag("reads", o.reads)
	case key == "arrivals" && o.rate != "":
		return flag("arrivals", o.arrivals)
	case key == "limit" && o.limit != 0:
		return flag("limit", o.limit.String())
	case key == "max_behind" && o.maxBehind != 0:
		return flag("max-behind", o.maxBehind.String())
	case key == "from":
		list := flag("from", "")
		for _, name := range o.from {
			list.Items = append(list.Items, flag("from", name))
		}
		return list
	}
	return nil
}

// flag is the place that messages about a flag name.
func flag(name, text string) *document.Node {
	return &document.Node{Kind: document.Scalar, Text: text, File: "--" + name}
}

// issuer is what issues the load with a seed: this process, or the loaders that were asked for.
type issuer func(seed uint64) (load.Runner, error)

func (o *runOptions) issuer(target engine.Target, db engine.Database, w workload.Workload, issue spec.Load, readers *workload.Readers) (issuer, error) {
	switch {
	case readers != nil:
		return func(seed uint64) (load.Runner, error) {
			connect, err := readers.Connect(w, db, seed)
			return load.Here(connect), err
		}, nil
	case len(o.from) == 0:
		return func(seed uint64) (load.Runner, error) { return load.Here(w.Connect(db, seed)), nil }, nil
	}
	loaders, err := catalog.Parts().LoadersOf(issue)
	if err != nil {
		return nil, err
	}
	parameters, err := o.readParameters()
	if err != nil {
		return nil, err
	}
	return func(seed uint64) (load.Runner, error) {
		job, err := loader.NewJob(target, w, o.workload, parameters, seed)
		return loader.Team{Loaders: loaders, Job: job, Version: home.Version()}.Run, err
	}, nil
}

func describeIssue(l spec.Load) string {
	from := ""
	if l.Reads == spec.ReadReplicas {
		from = ", reads on replicas"
	}
	if n := len(l.From); n > 0 {
		from = fmt.Sprintf(", from %d loaders", n)
	}
	if l.Open() {
		return fmt.Sprintf("%s arrivals, at most %d in flight%s", l.Arrivals, l.Connections, from)
	}
	return fmt.Sprintf("%d connections%s", l.Connections, from)
}
