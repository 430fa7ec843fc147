package advisecmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/memory"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/watchcmd"
	"plimsoll/engine"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

// looked is a reading of a second.
type looked struct {
	iops, writes, bytes, commits *float64
	commit                       watch.Commit
	sessions, waiting, running   float64
	source                       string
}

// lookAtServer reads a node once a second, as plimsoll watch does, and sums up.
func lookAtServer(ctx context.Context, c console.Streams, on *cluster.Cluster, node cluster.Node, inv *inventory.Inventory, deps lab.Deps, span time.Duration) (*advise.Seen, error) {
	find := watchcmd.Finder{Names: []string{on.Name}, Deps: deps, Set: &settings.Settings{}, Log: console.NewLog(c)}
	sources, err := find.Find(ctx, inv)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(sources, func(s watch.Source) bool { return s.Instance.Node == node.Name })
	if at < 0 {
		return nil, fmt.Errorf("node %s of %s cannot be watched", node.Name, on.Name)
	}
	source := sources[at]
	defer func() {
		for _, s := range sources {
			for _, one := range s.Collectors {
				_ = one.Close() // they only read
			}
		}
	}()
	p := console.NewProgress(c, "observe "+node.Name)
	defer p.Close()
	disk, _ := node.Server.(cluster.DiskLimited) // nil elsewhere than in a lab
	before, err := requests(ctx, disk)
	if err != nil {
		return nil, err
	}
	db, err := on.Database(ctx, node.Name)
	if err != nil {
		return nil, err
	}
	first, err := counted(ctx, db)
	if err != nil {
		return nil, err
	}
	seen := &advise.Seen{Began: time.Now(), For: span}
	instance := source.Instance
	var all []looked
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 0; ; n++ {
		r, err := source.Collectors[0].Collect(ctx, watch.TenSeconds, time.Now())
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", node.Name, err)
		}
		instance.Commit = nil
		if r.Show != nil {
			r.Show(&instance)
		}
		if n > 0 { // the first has no rates
			all = append(all, readingOf(instance))
		}
		passed := time.Since(seen.Began)
		p.Update(int64(min(passed, span)/time.Second), int64(span/time.Second), "seconds")
		if passed >= span {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	sum(seen, instance, all)
	last, err := counted(ctx, db)
	if err != nil {
		return nil, err
	}
	if first.known && last.known {
		seen.WarmUp = memory.Warming(first.cache, last.cache)
	}
	after, err := requests(ctx, disk)
	if err != nil {
		return nil, err
	}
	if over := after.At.Sub(before.At).Seconds(); seen.Disk != nil && over > 0 {
		use := seen.Disk.More(float64(after.Reads+after.Writes-before.Reads-before.Writes)/over - seen.Disk.IOPS.Mean)
		seen.Disk = &use
	}
	if seen.Commit != nil {
		if seen.Commit.Settings, err = commitSettings(ctx, db); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// requests are those that were made of a lab's disk; none where it is no lab's.
func requests(ctx context.Context, disk cluster.DiskLimited) (cluster.DiskRequests, error) {
	if disk == nil {
		return cluster.DiskRequests{}, nil
	}
	return disk.Requests(ctx)
}

func readingOf(i watch.Instance) (l looked) {
	l.commits = i.Commits
	if i.IO != nil {
		l.iops, l.writes, l.bytes = i.IO.IOPS, i.IO.Writes, i.IO.Bytes
	}
	if i.Commit != nil {
		l.commit = *i.Commit
	}
	if i.Load != nil {
		l.sessions, l.source = i.Load.AAS, i.Load.Source
		for _, w := range i.Load.Waits {
			switch w.Class {
			case "redo", "binlog", "semi-sync", "commit":
				l.waiting += w.AAS
			case "cpu":
				l.running = w.AAS
			}
		}
	}
	return l
}

// sum makes figures of seconds.
func sum(seen *advise.Seen, i watch.Instance, all []looked) {
	seen.Seconds, seen.Product, seen.Version = len(all), i.Product, i.Version
	series := func(of func(looked) *float64) (values []float64) {
		for _, l := range all {
			if v := of(l); v != nil {
				values = append(values, *v)
			}
		}
		return values
	}
	bytes := func(l looked) *float64 { return l.bytes }
	if iops := series(func(l looked) *float64 { return l.iops }); len(iops) > 0 {
		seen.Disk = &advise.DiskUse{
			IOPS: figure(iops), Peak: max(busiest(iops), figure(iops).Mean), Writes: figure(series(func(l looked) *float64 { return l.writes })).Mean,
			Bytes: figure(series(bytes)).Mean, PeakBytes: busiest(series(bytes)),
		}
	}
	running := series(func(l looked) *float64 { return &l.running })
	seen.Load = &advise.CPUUse{Running: figure(running), Peak: busiest(running)}
	if i.Connections != nil {
		seen.Load.Connections = *i.Connections
	}
	if i.MostConns != nil {
		seen.Load.Most = *i.MostConns
	}
	rate := series(func(l looked) *float64 { return l.commits })
	if len(rate) == 0 {
		return
	}
	c := &advise.CommitUse{Rate: figure(rate), Source: all[len(all)-1].source}
	c.Sessions = figure(series(func(l looked) *float64 { return &l.sessions })).Mean
	c.Waiting = figure(series(func(l looked) *float64 { return &l.waiting })).Mean
	part := func(of func(watch.Commit) *float64) *advise.Figure {
		values := series(func(l looked) *float64 { return of(l.commit) })
		if len(values) == 0 {
			return nil
		}
		f := figure(values)
		return &f
	}
	c.Total, c.Redo = part(func(c watch.Commit) *float64 { return c.Total }), part(func(c watch.Commit) *float64 { return c.Redo })
	c.Binlog, c.SemiSync = part(func(c watch.Commit) *float64 { return c.Binlog }), part(func(c watch.Commit) *float64 { return c.SemiSync })
	c.Queue, c.Group = part(func(c watch.Commit) *float64 { return c.Queue }), part(func(c watch.Commit) *float64 { return c.GroupSize })
	if c.Total == nil && c.Rate.Mean > 0 && c.Waiting > 0 { // Little's law
		f := advise.Figure{Mean: c.Waiting / c.Rate.Mean, Low: c.Waiting / c.Rate.High, High: c.Waiting / max(c.Rate.Low, 1e-9)}
		c.Total = &f
	}
	seen.Commit = c
}

// figure is the mean of seconds with an interval of 90 % from the means of six batches of them (Student's t, 5 degrees).
func figure(values []float64) advise.Figure {
	if len(values) == 0 {
		return advise.Figure{}
	}
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	const batches, t = 6, 2.015
	if len(values) < 2*batches {
		return advise.Figure{Mean: mean, Low: slices.Min(values), High: slices.Max(values)}
	}
	sumSquares := 0.0
	for b := range batches {
		part, m := values[b*len(values)/batches:(b+1)*len(values)/batches], 0.0
		for _, v := range part {
			m += v / float64(len(part))
		}
		sumSquares += (m - mean) * (m - mean)
	}
	half := t * math.Sqrt(sumSquares/(batches-1)/batches)
	return advise.Figure{Mean: mean, Low: max(mean-half, 0), High: mean + half}
}

// busiest is the largest mean of any ten readings in a row.
func busiest(values []float64) (most float64) {
	n := min(10, len(values))
	for i := 0; i+n <= len(values); i++ {
		m := 0.0
		for _, v := range values[i : i+n] {
			m += v / float64(n)
		}
		most = max(most, m)
	}
	return most
}

// commitSettings are those that say how a server commits. One that it does not have is left out.
func commitSettings(ctx context.Context, db engine.Database) (map[string]string, error) {
	shown, ok := engine.As[engine.Configurable](db)
	if !ok {
		return nil, errors.New("this engine shows no settings")
	}
	all := map[string]string{}
	for _, name := range []string{
		"innodb_flush_log_at_trx_commit", "innodb_flush_log_at_timeout", "log_bin", "sync_binlog", "rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled",
	} {
		if value, err := shown.Setting(ctx, name); err == nil {
			all[name] = value
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return all, nil
}
