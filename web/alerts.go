package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/watch"
)

// alertsPage is what fires, and what is about to.
type alertsPage struct {
	Watched bool        `json:"watched"`
	Why     string      `json:"why,omitempty"`
	Alerts  []alertView `json:"alerts"`
}

// alertView is an alert with where to look.
type alertView struct {
	watch.Alert
	Page   string         `json:"page"` // of the alert
	Path   string         `json:"-"`    // of its instance
	Books  string         `json:"-"`    // of the runbook that does something about it
	Before []watch.Change `json:"before,omitempty"`
}

// beforeAlert is how far back the change is looked for that an alert may come from.
const beforeAlert = 30 * time.Minute

func (s fleetHandlers) alerts(w http.ResponseWriter, r *http.Request) error {
	p := alertsPage{Watched: s.Watch.Fleet != nil, Why: s.Watch.Why, Alerts: []alertView{}}
	for _, a := range s.Watch.picture().Alerts {
		v := s.viewOf(a)
		v.Before = s.changes(r.Context(), a.Instance, a.Since.Add(-beforeAlert), a.Since.Add(time.Minute))
		v.Before = v.Before[:min(len(v.Before), 5)]
		p.Alerts = append(p.Alerts, v)
	}
	slices.SortStableFunc(p.Alerts, func(a, b alertView) int { return rank(a.Alert) - rank(b.Alert) })
	s.show(w, r, http.StatusOK, "alerts", p)
	return nil
}

func (s *Server) viewOf(a watch.Alert) alertView {
	v := alertView{Alert: a, Page: "/alerts/" + alertID(a)}
	if a.Instance != "" {
		v.Path = "/fleet/" + pathOf(a.Instance)
	}
	if slices.Contains(s.Runbooks, a.Runbook) {
		v.Books = (&url.URL{Path: "/runbooks/" + a.Runbook, RawQuery: filledIn(a).Encode()}).String()
	}
	return v
}

// filledIn is what an alert knows of the form that plans its runbook.
func filledIn(a watch.Alert) url.Values {
	form := url.Values{}
	if cluster := a.Cluster(); cluster != "" {
		form.Set("cluster", cluster)
	}
	for _, given := range a.Given() {
		if name, value, _ := strings.Cut(given, "="); value != hint.FillIn {
			form.Set("input-"+name, value)
		}
	}
	return form
}

// rank orders alerts: what burns first.
func rank(a watch.Alert) int {
	n := slices.Index([]string{"critical", "warning", "info"}, a.Severity)
	switch {
	case a.Silenced:
		n += 20
	case a.State != "firing":
		n += 10
	}
	return n
}
