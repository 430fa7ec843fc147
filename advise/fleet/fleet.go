// Package fleet gathers what was kept of many instances, for advice about all of them at once.
package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/advise/price"
	"plimsoll/watch/store"
)

// Series answers questions about what was kept.
type Series interface {
	Query(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]store.Line, error)
	Stream(ctx context.Context, selector string, from, to time.Time, begin func(labels map[string]string) func(at int64, v float64)) error
}

// Span is what of the history is looked at, in parts of a length.
type Span struct {
	From, To time.Time
	Every    time.Duration
}

// pool is asked once for all instances, of the last part alone.
const pool = `max by (instance) (max_over_time(mysql_global_variables_innodb_buffer_pool_size[1d]))`

// Histories are those of all instances that anything was kept of, by their names. Operations of the disk are known where the watch
// knew them: reads and writes of InnoDB alone would be far too few without those of the redo log. The samples are read once and summed up here: asking for each part of each instance in PromQL takes several times as long.
func Histories(ctx context.Context, kept Series, s Span) ([]findings.History, error) {
	g := gathered{kept: kept, span: s}
	cpu := g.all(ctx, `plimsoll_aas{wait="cpu"}`, averages)
	iops := g.all(ctx, `plimsoll_iops`, averages)
	sent := g.all(ctx, `mysql_global_status_bytes_sent`, rates)
	disk := g.all(ctx, `{__name__=~"mysql_global_status_innodb_data_(read|written)"}`, rates)
	connections := g.all(ctx, `mysql_global_status_threads_connected`, largest)
	if g.err != nil {
		return nil, fmt.Errorf("query the history: %w", g.err)
	}
	all := map[string]*findings.History{}
	for _, of := range []struct {
		values map[string][]float64
		into   func(*findings.History) *[]float64
	}{
		{cpu, func(h *findings.History) *[]float64 { return &h.CPU }},
		{iops, func(h *findings.History) *[]float64 { return &h.IOPS }},
		{sent, func(h *findings.History) *[]float64 { return &h.Sent }},
		{disk, func(h *findings.History) *[]float64 { return &h.Disk }},
		{connections, func(h *findings.History) *[]float64 { return &h.Connections }},
	} {
		for name, values := range of.values {
			h := all[name]
			if h == nil {
				h = &findings.History{Instance: name, From: s.From, To: s.To, Every: s.Every}
				all[name] = h
			}
			*of.into(h) = values
		}
	}
	lines, err := kept.Query(ctx, pool, s.To.Add(-s.Every), s.To, s.Every)
	if err != nil {
		return nil, fmt.Errorf("query the history: %w", err)
	}
	for _, line := range lines {
		if h := all[line.Labels["instance"]]; h != nil && len(line.Points) > 0 {
			h.Pool = line.Points[len(line.Points)-1].Value
		}
	}
	var out []findings.History
	for _, h := range all {
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b findings.History) int { return strings.Compare(a.Instance, b.Instance) })
	return out, nil
}

// Place is what an instance runs on.
type Place struct {
	Class  string // "": not known
	Region string // whose prices count
	RDS    bool   // the inventory names the instance there
}

// Advise judges every instance's class.
func Advise(ctx context.Context, kept Series, s Span, prices price.Of, place func(cluster, node string) Place) ([]*advise.Report, error) {
	histories, err := Histories(ctx, kept, s)
	if err != nil {
		return nil, err
	}
	var all []*advise.Report
	for _, h := range histories {
		cluster, node, _ := strings.Cut(h.Instance, "/")
		at := place(cluster, node)
		h.Class, h.RDS, h.Prices = at.Class, at.RDS, prices
		h.Prices.Region = at.Region
		r := &advise.Report{Cluster: cluster, Node: node, At: s.To, Region: at.Region, Discount: prices.Discount, Findings: []advise.Finding{}, Observed: []string{}}
		f, unknown := findings.Instance(h)
		r.Unknown = unknown
		if f.Title != "" {
			r.Findings, r.Observed = append(r.Findings, f), append(r.Observed, f.About)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *advise.Report) int { return rank(a) - rank(b) })
	return all, nil
}

// rank puts what is urgent first, then what could be smaller, then the rest.
func rank(r *advise.Report) int {
	for _, f := range r.Findings {
		switch {
		case f.Urgent:
			return 0
		case slices.ContainsFunc(f.Options, func(o advise.Option) bool { return o.Advised }):
			return 1
		}
	}
	return 2
}
