// Package fleet gathers what was kept of many instances, for advice about all of them at once.
package fleet

import (
	"context"
	"fmt"
	"math"
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
}

// Span is what of the history is looked at, in parts of a length.
type Span struct {
	From, To time.Time
	Every    time.Duration
}

// The questions, each for all instances at once. What the model of a volume saw of operations stands before what the server counted.
const (
	processors  = `sum by (instance) (avg_over_time(plimsoll_aas{wait="cpu"}[%[1]s]))`
	operations  = `sum by (instance) (avg_over_time(plimsoll_iops[%[1]s])) or sum by (instance) (rate(mysql_global_status_innodb_data_reads[%[1]s])) + sum by (instance) (rate(mysql_global_status_innodb_data_writes[%[1]s]))`
	connections = `max by (instance) (max_over_time(mysql_global_status_threads_connected[%[1]s]))`
	sent        = `sum by (instance) (rate(mysql_global_status_bytes_sent[%[1]s]))`
	pool        = `max by (instance) (last_over_time(mysql_global_variables_innodb_buffer_pool_size[%[1]s]))`
)

// Histories are those of all instances that anything was kept of, by their names.
func Histories(ctx context.Context, kept Series, s Span) ([]findings.History, error) {
	n := int(s.To.Sub(s.From)/s.Every) + 1
	all := map[string]*findings.History{}
	ask := func(expr string, into func(*findings.History) *[]float64) error {
		lines, err := kept.Query(ctx, fmt.Sprintf(expr, fmt.Sprintf("%ds", int(s.Every.Seconds()))), s.From, s.To, s.Every)
		if err != nil {
			return fmt.Errorf("query the history: %w", err)
		}
		for _, line := range lines {
			name := line.Labels["instance"]
			h := all[name]
			if h == nil {
				h = &findings.History{Instance: name, From: s.From, To: s.To, Every: s.Every}
				all[name] = h
			}
			values := into(h)
			*values = slices.Repeat([]float64{math.NaN()}, n)
			for _, p := range line.Points {
				if at := int(p.At.Sub(s.From) / s.Every); at >= 0 && at < n {
					(*values)[at] = p.Value
				}
			}
		}
		return nil
	}
	for _, q := range []struct {
		expr string
		into func(*findings.History) *[]float64
	}{
		{processors, func(h *findings.History) *[]float64 { return &h.CPU }},
		{operations, func(h *findings.History) *[]float64 { return &h.IOPS }},
		{sent, func(h *findings.History) *[]float64 { return &h.Sent }},
		{connections, func(h *findings.History) *[]float64 { return &h.Connections }},
	} {
		if err := ask(q.expr, q.into); err != nil {
			return nil, err
		}
	}
	last := s
	last.From = s.To.Add(-s.Every)
	lines, err := kept.Query(ctx, fmt.Sprintf(pool, "1d"), last.From, last.To, s.Every)
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

// Advise judges every instance's class. Classes are by instance or by cluster; "" is that of all others.
func Advise(ctx context.Context, kept Series, s Span, prices price.Of, classes map[string]string) ([]*advise.Report, error) {
	histories, err := Histories(ctx, kept, s)
	if err != nil {
		return nil, err
	}
	var all []*advise.Report
	for _, h := range histories {
		cluster, node, _ := strings.Cut(h.Instance, "/")
		h.Prices = prices
		for _, name := range []string{"", cluster, h.Instance} {
			if class, given := classes[name]; given {
				h.Class = class
			}
		}
		r := &advise.Report{Cluster: cluster, Node: node, At: s.To, Region: prices.Region, Discount: prices.Discount, Findings: []advise.Finding{}}
		f, unknown := findings.Instance(h)
		r.Unknown = unknown
		if f.Title != "" {
			r.Findings = append(r.Findings, f)
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
