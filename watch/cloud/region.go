// Package cloud finds databases that run at AWS and reads what CloudWatch and Performance Insights show of them, beside what SQL says.
package cloud

import (
	"context"
	"slices"
	"sync"
	"time"

	"plimsoll/infra/aws"
)

// API is what is asked of AWS; an *aws.Metrics.
type API interface {
	Means(ctx context.Context, instances, names []string, from, to time.Time) ([]aws.Metric, error)
	Waits(ctx context.Context, resource string, from, to time.Time) ([]aws.Waiting, error)
}

// How AWS is asked: once a minute for all instances together, for so far back, since its values come late.
const (
	askEvery = 55 * time.Second
	askBack  = 10 * time.Minute
)

// Region asks once a minute for all instances that collectors were made for: one request for twenty-five of them.
type Region struct {
	api API

	mu        sync.Mutex
	instances []string
	asked     time.Time
	last      map[string][]aws.Metric
	err       error
}

// NewRegion asks by an API.
func NewRegion(api API) *Region { return &Region{api: api} }

// add has an instance asked for.
func (r *Region) add(instance string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.instances, instance) {
		r.instances = append(r.instances, instance)
	}
}

// of returns what is known of an instance, asking if that is due.
func (r *Region) of(ctx context.Context, instance string, now time.Time) ([]aws.Metric, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.asked) >= askEvery {
		r.asked = now
		var all []aws.Metric
		all, r.err = r.api.Means(ctx, r.instances, metricNames(), now.Add(-askBack), now)
		r.last = map[string][]aws.Metric{}
		for _, m := range all {
			r.last[m.Instance] = append(r.last[m.Instance], m)
		}
	}
	return r.last[instance], r.err
}
