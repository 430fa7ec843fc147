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

// looked is a reading of about a second.
type looked struct {
	seconds                                 float64 // since the reading before
	iops, writes, bytes, commits, questions *float64
	counted                                 watch.CommitTimes
	sessions, waiting, running              float64
	source                                  string
}

// lookAtServer reads a node once a second, as plimsoll watch does, and sums up.
func lookAtServer(ctx context.Context, c console.Streams, on *cluster.Cluster, node cluster.Node, inv *inventory.Inventory, deps lab.Deps, span time.Duration) (*advise.Seen, error) {
	find := watchcmd.Finder{Names: []string{on.Name}, Deps: deps, Set: &settings.Settings{}, Log: console.NewLog(c)}
	sources, err := find.Find(ctx, inv)
	if err != nil {
		return nil, err
	}
	found := slices.IndexFunc(sources, func(s watch.Source) bool { return s.Instance.Node == node.Name })
	if found < 0 {
		return nil, fmt.Errorf("node %s of %s cannot be watched", node.Name, on.Name)
	}
	source := sources[found]
	defer func() {
		for _, s := range sources {
			for _, one := range s.Collectors {
				_ = one.Close() // they only read
			}
		}
	}()
	p := console.NewProgress(c, "observe "+node.Name)
	defer p.Close()
	disk, _ := cluster.As[cluster.DiskLimited](node.Server) // nil elsewhere than in a lab
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
	seen, err := follow(ctx, source, span, p)
	if err != nil {
		return nil, err
	}
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

// follow reads an instance once a second for a while.
func follow(ctx context.Context, source watch.Source, span time.Duration, p *console.Progress) (*advise.Seen, error) {
	seen := &advise.Seen{Began: time.Now(), For: span}
	instance := source.Instance
	var all []looked
	var last time.Time
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		at := time.Now()
		r, err := source.Collectors[0].Collect(ctx, watch.TenSeconds, at)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", source.Instance.Node, err)
		}
		instance.Commit = nil
		if r.Show != nil {
			r.Show(&instance)
		}
		if r.Asked == watch.Everything { // of a server that is spared nothing else is known
			if !last.IsZero() { // the first has no rates
				all = append(all, readingOf(instance, r.Samples, at.Sub(last)))
			}
			last = at
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
	return seen, nil
}

// requests are those that were made of a lab's disk; none where it is no lab's.
func requests(ctx context.Context, disk cluster.DiskLimited) (cluster.DiskRequests, error) {
	if disk == nil {
		return cluster.DiskRequests{}, nil
	}
	return disk.Requests(ctx)
}

// readingOf takes the load from the reading's own samples: what an instance shows is a mean over many.
func readingOf(i watch.Instance, samples []watch.Sample, since time.Duration) looked {
	l := looked{seconds: since.Seconds(), commits: i.Commits, questions: i.Throughput}
	if i.IO != nil {
		l.iops, l.writes, l.bytes = i.IO.IOPS, i.IO.Writes, i.IO.Bytes
	}
	if i.Commit != nil {
		l.counted = i.Commit.Counted
	}
	if i.Load != nil {
		l.source = i.Load.Source
	}
	for _, s := range samples {
		if s.Name != "plimsoll_aas" {
			continue
		}
		l.sessions += s.Value
		switch s.Labels[0].Value {
		case "redo", "binlog", "semi-sync", "commit":
			l.waiting += s.Value
		case "cpu":
			l.running = s.Value
		}
	}
	return l
}

// sum makes figures of readings.
func sum(seen *advise.Seen, i watch.Instance, all []looked) {
	seen.Product, seen.Version = i.Product, i.Version
	over := 0.0
	for _, l := range all {
		over += l.seconds
	}
	seen.Seconds = int(math.Round(over))
	rates := func(of func(looked) *float64) (rates []watch.Counted) {
		for _, l := range all {
			if v := of(l); v != nil {
				rates = append(rates, watch.Counted{Sum: *v * l.seconds, Of: l.seconds})
			}
		}
		return rates
	}
	bytes := rates(func(l looked) *float64 { return l.bytes })
	if iops := rates(func(l looked) *float64 { return l.iops }); len(iops) > 0 {
		seen.Disk = &advise.DiskUse{
			IOPS: figure(iops), Peak: max(busiest(iops), figure(iops).Mean), Writes: figure(rates(func(l looked) *float64 { return l.writes })).Mean,
			Bytes: figure(bytes).Mean, PeakBytes: busiest(bytes),
		}
	}
	running := rates(func(l looked) *float64 { return &l.running })
	seen.Load = &advise.CPUUse{Running: figure(running), Peak: busiest(running)}
	if i.Connections != nil {
		seen.Load.Connections = *i.Connections
	}
	if i.MostConns != nil {
		seen.Load.Most = *i.MostConns
	}
	seen.Changed = changed(seen.Began, rates(func(l looked) *float64 { return l.questions }))
	if commits := rates(func(l looked) *float64 { return l.commits }); len(commits) > 0 {
		seen.Commit = committed(all, commits)
	}
}

// committed is what the commits waited for: the sum of their time over their number. With their rate it obeys Little's law: time × rate is how many
// sessions commit at once.
func committed(all []looked, commits []watch.Counted) *advise.CommitUse {
	c := &advise.CommitUse{Rate: figure(commits), Source: all[len(all)-1].source}
	part := func(of func(watch.CommitTimes) watch.Counted) *advise.Figure {
		var sums []watch.Counted
		most := 0.0
		for _, l := range all {
			one := of(l.counted)
			sums, most = append(sums, one), max(most, one.Of)
		}
		if most == 0 {
			return nil
		}
		f := figure(sums)
		return &f
	}
	c.Total, c.Redo = part(func(c watch.CommitTimes) watch.Counted { return c.Total }), part(func(c watch.CommitTimes) watch.Counted { return c.Redo })
	c.Binlog, c.SemiSync = part(func(c watch.CommitTimes) watch.Counted { return c.Binlog }), part(func(c watch.CommitTimes) watch.Counted { return c.SemiSync })
	c.Group = part(func(c watch.CommitTimes) watch.Counted { return c.Group })
	var sessions, waiting, each []watch.Counted
	for _, l := range all {
		sessions = append(sessions, watch.Counted{Sum: l.sessions * l.seconds, Of: l.seconds})
		in := l.waiting * l.seconds
		if c.Total != nil {
			in = l.counted.Total.Sum
		}
		waiting = append(waiting, watch.Counted{Sum: in, Of: l.seconds})
		if l.commits != nil {
			each = append(each, watch.Counted{Sum: in, Of: *l.commits * l.seconds})
		}
	}
	c.Sessions, c.Waiting = figure(sessions), figure(waiting)
	if c.Total == nil && c.Rate.Mean > 0 && c.Waiting.Mean > 0 {
		f := figure(each)
		c.Total = &f
	}
	c.Settle()
	return c
}

// figure is a sum over what it is of, for all readings, with an interval of 90 % from six batches of them (Student's t, 5 degrees).
func figure(all []watch.Counted) (f advise.Figure) {
	var whole watch.Counted
	for _, c := range all {
		whole.Sum, whole.Of = whole.Sum+c.Sum, whole.Of+c.Of
	}
	if whole.Of == 0 {
		return f
	}
	f.Mean = whole.Sum / whole.Of
	const batches, t = 6, 2.015
	if len(all) < 2*batches {
		f.Low, f.High = f.Mean, f.Mean
		for _, c := range all {
			if mean := c.Mean(); mean != nil {
				f.Low, f.High = min(f.Low, *mean), max(f.High, *mean)
			}
		}
		return f
	}
	squares := 0.0
	for b := range batches {
		off := 0.0
		for _, c := range all[b*len(all)/batches : (b+1)*len(all)/batches] {
			off += c.Sum - f.Mean*c.Of
		}
		squares += off * off
	}
	half := t * math.Sqrt(squares*batches/(batches-1)) / whole.Of
	f.Low, f.High = max(f.Mean-half, 0), f.Mean+half
	return f
}

// busiest is the largest rate of any ten readings in a row.
func busiest(all []watch.Counted) (most float64) {
	n := min(10, len(all))
	for i := 0; n > 0 && i+n <= len(all); i++ {
		most = max(most, figure(all[i:i+n]).Mean)
	}
	return most
}

// changed says since when the server was asked for more or less; empty: it was not, or the observation was too short to tell.
func changed(began time.Time, statements []watch.Counted) string {
	var rates []float64
	for _, c := range statements {
		rates = append(rates, max(c.Sum/max(c.Of, 1e-9), 1))
	}
	at, before, now, is := memory.Changed(rates)
	if !is {
		return ""
	}
	after := 0.0
	for _, c := range statements[:at] {
		after += c.Of
	}
	return fmt.Sprintf("The load changed at %s, %.0f seconds after the observation had begun: %.0f statements a second before, %.0f since. Figures are means over both: observe again while the load stays the same.",
		began.Add(time.Duration(after*float64(time.Second))).UTC().Format("15:04:05 MST"), after, before, now)
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
