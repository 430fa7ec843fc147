package web

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"plimsoll/advise"
	"plimsoll/watch"
)

// today is the page that says whether anything is wrong or waits for a person.
type today struct {
	Asking  []runRow      `json:"asking"`  // wait for an approval
	Stopped []runRow      `json:"stopped"` // failed, held, parked, or executed by no process
	Alerts  []alertView   `json:"alerts"`  // that fire
	Down    []instanceRow `json:"-"`       // instances that do not answer
	Urgent  []urgentRow   `json:"urgent"`  // advice that cannot wait
	Running []runRow      `json:"running"`
	Recent  []runRow      `json:"recent"`         // the last that ended
	Calm    bool          `json:"calm"`           // nothing is wrong and nothing waits
	Since   time.Time     `json:"since,omitzero"` // for how long
}

// urgentRow is a finding about a cluster that cannot wait, with what is advised.
type urgentRow struct {
	Cluster string    `json:"cluster"`
	Path    string    `json:"-"`
	At      time.Time `json:"at"`
	Title   string    `json:"title"`
	Advised string    `json:"advised,omitempty"`
}

// Headline says how much of each kind waits; what there is none of is left out.
func (t today) Headline() (keys []headlineKey) {
	for _, k := range []headlineKey{{"asking", len(t.Asking)}, {"stopped", len(t.Stopped)}, {"alerts", len(t.Alerts)}, {"down", len(t.Down)}, {"urgent", len(t.Urgent)}} {
		if k.Count > 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

// mostTrouble is how many alerts, and how many instances that do not answer, the page lists: it is to be read at a glance.
const mostTrouble = 10

// WorstAlerts and FirstDown are those that the page lists; MoreAlerts and MoreDown how many it does not.
func (t today) WorstAlerts() []alertView { return t.Alerts[:min(len(t.Alerts), mostTrouble)] }
func (t today) MoreAlerts() int          { return len(t.Alerts) - len(t.WorstAlerts()) }
func (t today) FirstDown() []instanceRow { return t.Down[:min(len(t.Down), mostTrouble)] }
func (t today) MoreDown() int            { return len(t.Down) - len(t.FirstDown()) }

type headlineKey struct {
	Kind  string
	Count int
}

const recentRuns = 5

func (s *Server) now(w http.ResponseWriter, r *http.Request) error {
	all, err := s.seeAll(r.Context())
	if err != nil {
		return err
	}
	t := today{Asking: []runRow{}, Stopped: []runRow{}, Alerts: []alertView{}, Urgent: fleetHandlers{s}.urgent(r.Context()), Running: []runRow{}, Recent: []runRow{}}
	for _, row := range all {
		if row.Changed.After(t.Since) {
			t.Since = row.Changed
		}
		switch {
		case len(row.Asks) > 0:
			t.Asking = append(t.Asking, row)
		case row.needsPerson():
			t.Stopped = append(t.Stopped, row)
		case row.Open():
			t.Running = append(t.Running, row)
		default:
			t.Recent = append(t.Recent, row)
		}
	}
	slices.SortFunc(t.Recent, func(a, b runRow) int { return b.Changed.Compare(a.Changed) })
	t.Recent = t.Recent[:min(recentRuns, len(t.Recent))]
	f := s.Watch.picture()
	for _, a := range f.Alerts {
		if a.State == "firing" && !a.Silenced {
			t.Alerts = append(t.Alerts, s.viewOf(a))
		}
	}
	slices.SortStableFunc(t.Alerts, func(a, b alertView) int { return rank(a.Alert) - rank(b.Alert) })
	for _, i := range f.Instances {
		if i.State == watch.Down {
			t.Down = append(t.Down, rowOfInstance(i))
		}
	}
	t.Calm = len(t.Asking)+len(t.Stopped)+len(t.Alerts)+len(t.Down)+len(t.Urgent) == 0
	s.show(w, r, http.StatusOK, "now", t)
	return nil
}

// urgentFor is how old what is shown of advice may be: it is read from a file for each cluster, and the page is looked at whenever a run writes something.
const urgentFor = 5 * time.Second

// urgencies are the findings that could not wait when they were read.
type urgencies struct {
	mu   sync.Mutex
	at   time.Time
	rows []urgentRow
}

// urgent are the findings of the last looks at each cluster that cannot wait. What cannot be read the page Advice says.
func (s fleetHandlers) urgent(ctx context.Context) []urgentRow {
	if s.Advice.Latest == nil {
		return []urgentRow{}
	}
	u := &s.urgencies
	u.mu.Lock()
	defer u.mu.Unlock()
	if now := s.Now(); u.rows == nil || now.Sub(u.at) >= urgentFor {
		rows := s.readUrgent(ctx)
		if ctx.Err() != nil { // not all of it, maybe
			return rows
		}
		u.at, u.rows = now, rows
	}
	return u.rows
}

func (s fleetHandlers) readUrgent(ctx context.Context) []urgentRow {
	all := []urgentRow{}
	for _, cluster := range s.Clusters(ctx) {
		reports, err := s.Advice.Latest(cluster)
		if err != nil {
			continue
		}
		for _, r := range reports {
			for _, f := range r.Findings {
				if !f.Urgent {
					continue
				}
				row := urgentRow{Cluster: cluster, Path: "/advice/" + pathOf(cluster), At: r.At, Title: f.Title}
				if n := slices.IndexFunc(f.Options, func(o advise.Option) bool { return o.Advised }); n >= 0 {
					row.Advised = f.Options[n].Name
				}
				all = append(all, row)
			}
		}
	}
	return all
}
