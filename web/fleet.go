package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/store"
)

// Watch is what the page shows of a fleet; the zero Watch: nothing is watched.
type Watch struct {
	Fleet func() watch.Fleet
	// Query evaluates an expression at every step between two times. nil: nothing is kept.
	Query func(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]store.Line, error)
	// Statements and Callers are what caused the load of an instance in a period, the largest first. May be nil.
	Statements func(ctx context.Context, instance string, from, to time.Time) ([]watch.Statement, error)
	Callers    func(ctx context.Context, instance string, from, to time.Time) ([]watch.Caller, error)
	// Changes are those of an instance, or of all where it is "". May be nil.
	Changes func(instance string, from, to time.Time) ([]watch.Change, error)
	// Prometheus answers /api/v1/ and /metrics, as Grafana and Prometheus ask. nil: nobody does.
	Prometheus http.Handler
	// Marks takes POST /api/marks, by which a deployment stands on the curves. nil: nobody does.
	Marks http.Handler
	Why   string // why nothing is watched, or kept
}

func (w Watch) picture() watch.Fleet {
	if w.Fleet == nil {
		return watch.Fleet{}
	}
	return w.Fleet()
}

// fleetPage is the fleet, worst first.
type fleetPage struct {
	At          time.Time        `json:"at,omitzero"`
	Watched     bool             `json:"watched"` // there are instances
	Why         string           `json:"why,omitempty"`
	Search      string           `json:"search,omitempty"`
	Environment string           `json:"environment,omitempty"`
	Instances   []watch.Instance `json:"instances"`
	Total       int              `json:"total"`
	Down        int              `json:"down"`
	Firing      int              `json:"firing"`
	Rows        []instanceRow    `json:"-"`
}

// instanceRow is an instance in words and figures.
type instanceRow struct {
	watch.Instance
	Path   string
	AAS    float64
	Share  float64 // of its cores, in percent
	Over   bool    // more work than cores
	Most   string  // what it waits for most
	Lag    *float64
	Broken string   // how a channel fails, which has stopped or is not connected; "": none does
	Filled *float64 // the share that is used, in percent
}

// mostChannels are the channels of an instance whose lags stand in the list of all instances, the worst.
const mostChannels = 4

// Lags are the channels whose lags are listed, where there are several; MoreLags how many others there are.
func (r instanceRow) Lags() []watch.Channel {
	if len(r.Channels) < 2 {
		return nil
	}
	return r.WorstChannels()[:min(len(r.Channels), mostChannels)]
}

// MoreLags is how many channels Lags leaves out.
func (r instanceRow) MoreLags() int { return max(len(r.Channels)-mostChannels, 0) }

func rowOfInstance(i watch.Instance) instanceRow {
	row := instanceRow{Instance: i, Path: "/fleet/" + pathOf(i.Name)}
	if i.Load != nil {
		row.AAS = i.Load.AAS
		if i.Cores > 0 {
			row.Share = 100 * i.Load.AAS / float64(i.Cores)
			row.Over = row.Share > 100
		}
		for _, w := range i.Load.Waits {
			if w.Class != "cpu" && w.AAS > 0.05 {
				row.Most = w.Class
				break
			}
		}
	}
	if i.Disk != nil {
		if used, known := i.Disk.Used(); known {
			percent := 100 * used
			row.Filled = &percent
		}
	}
	for _, c := range i.Channels {
		switch {
		case c.Stopped:
			row.Broken = "stopped"
		case c.Connecting && row.Broken == "":
			row.Broken = "connecting"
		}
		if c.Lag != nil && (row.Lag == nil || *c.Lag > *row.Lag) {
			row.Lag = c.Lag
		}
	}
	return row
}

// pathOf is an instance's name as a part of an address: cluster/node stays readable.
func pathOf(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		parts = append(parts, url.PathEscape(part))
	}
	return strings.Join(parts, "/")
}

func (s fleetHandlers) fleet(w http.ResponseWriter, r *http.Request) error {
	f := s.Watch.picture()
	p := fleetPage{At: f.At, Watched: len(f.Instances) > 0, Why: s.Watch.Why, Search: r.FormValue("search"), Environment: r.FormValue("environment"), Instances: []watch.Instance{}, Total: len(f.Instances)}
	for _, a := range f.Alerts {
		if a.State == "firing" && !a.Silenced {
			p.Firing++
		}
	}
	for _, i := range f.Instances {
		if i.State == watch.Down {
			p.Down++
		}
		text := strings.ToLower(strings.Join([]string{i.Name, i.Product, i.Version, i.Role, i.Address}, " "))
		if strings.Contains(text, strings.ToLower(p.Search)) && (p.Environment == "" || i.Environment == p.Environment) {
			p.Instances = append(p.Instances, i)
			p.Rows = append(p.Rows, rowOfInstance(i))
		}
	}
	s.show(w, r, http.StatusOK, "fleet", p)
	return nil
}
