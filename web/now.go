package web

import (
	"net/http"
	"slices"
	"time"

	"plimsoll/watch"
)

// today is the page that says whether anything is wrong or waits for a person.
type today struct {
	Asking  []runRow      `json:"asking"`  // wait for an approval
	Stopped []runRow      `json:"stopped"` // failed, held or parked
	Alerts  []alertView   `json:"alerts"`  // that fire
	Down    []instanceRow `json:"-"`       // instances that do not answer
	Running []runRow      `json:"running"`
	Recent  []runRow      `json:"recent"`         // the last that ended
	Calm    bool          `json:"calm"`           // nothing is wrong and nothing waits
	Since   time.Time     `json:"since,omitzero"` // for how long
}

const recentRuns = 5

func (s *Server) now(w http.ResponseWriter, r *http.Request) error {
	all, err := s.seeAll(r.Context())
	if err != nil {
		return err
	}
	t := today{Asking: []runRow{}, Stopped: []runRow{}, Alerts: []alertView{}, Running: []runRow{}, Recent: []runRow{}}
	for _, one := range all {
		row := rowOf(one)
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
	for _, i := range f.Instances {
		if i.State == watch.Down {
			t.Down = append(t.Down, rowOfInstance(i))
		}
	}
	t.Calm = len(t.Asking)+len(t.Stopped)+len(t.Alerts)+len(t.Down) == 0
	s.show(w, r, http.StatusOK, "now", t)
	return nil
}
