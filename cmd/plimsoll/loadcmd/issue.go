package loadcmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/loader"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// issue reads how the load is issued, by the rules of a trial.
func (o *runOptions) issue() (spec.Load, error) {
	n := &document.Node{Kind: document.Mapping, File: "load run"}
	put := func(key, flag, text string) error {
		v, err := document.FlagValue("--"+flag, text)
		if err == nil {
			n.Put(key, v)
		}
		return err
	}
	errs := []error{put("workload", "workload", strconv.Quote(o.workload))}
	if o.connections != 0 {
		errs = append(errs, put("connections", "connections", fmt.Sprint(o.connections)))
	}
	if o.rate != "" {
		errs = append(errs, put("rate", "rate", o.rate), put("arrivals", "arrivals", o.arrivals))
	}
	if o.limit > 0 {
		errs = append(errs, put("limit", "limit", o.limit.String()))
	}
	if len(o.from) > 0 {
		errs = append(errs, put("from", "from", "["+strings.Join(o.from, ", ")+"]"))
	}
	errs = append(errs, put("reads_from", "reads", o.reads))
	if o.maxBehind != 0 {
		errs = append(errs, put("max_behind", "max-behind", o.maxBehind.String()))
	}
	errs = append(errs, put("timeout", "timeout", o.timeout.String()))
	if err := errors.Join(errs...); err != nil {
		return spec.Load{}, err
	}
	return spec.ReadLoad(n, catalog.Parts())
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
