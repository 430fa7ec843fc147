package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/watch"
)

// alertsPage is what fires, and what is about to.
type alertsPage struct {
	Watched bool        `json:"watched"` // there are instances
	Why     string      `json:"why,omitempty"`
	Alerts  []alertView `json:"alerts"`

	Rules []alertsOfRule `json:"-"`
}

// alertsOfRule are the alerts of a rule that are in the same state and say the same, but for their instances.
type alertsOfRule struct {
	alertView // the first
	Key       string
	All       []alertView
}

const shownOfRule = 5 // instances of a rule that fires: the others are folded away

// Single tells whether it is one alone: that is shown with all that is known of it.
func (a alertsOfRule) Single() bool { return len(a.All) == 1 }

// Shown are the instances that are listed at once; More are those to be unfolded. Of what does not fire, or is silenced, none are.
func (a alertsOfRule) Shown() []alertView {
	if a.State != "firing" || a.Silenced {
		return nil
	}
	return a.All[:min(len(a.All), shownOfRule)]
}

// More are the instances that Shown leaves out.
func (a alertsOfRule) More() []alertView { return a.All[len(a.Shown()):] }

// mostLeads are the commands that stand on the card of a rule.
const mostLeads = 5

// Leads are alerts whose commands do something about them: of each command the first alert that has it.
func (a alertsOfRule) Leads() []alertView {
	all := a.leads()
	return all[:min(len(all), mostLeads)]
}

// MoreLeads is how many other commands there are.
func (a alertsOfRule) MoreLeads() int { return max(len(a.leads())-mostLeads, 0) }

func (a alertsOfRule) leads() (first []alertView) {
	for _, one := range a.All {
		if one.Runbook == "" || slices.ContainsFunc(first, func(before alertView) bool { return before.Runbook == one.Runbook && before.Command() == one.Command() }) {
			continue
		}
		first = append(first, one)
	}
	return first
}

// byRule puts the alerts of a rule together, in the order in which the first of each stands.
func byRule(all []alertView) (rules []alertsOfRule) {
	at := map[string]int{}
	for _, a := range all {
		key := strings.Join([]string{a.Rule, a.Severity, a.State, strconv.FormatBool(a.Silenced), ofAnyCluster(a.Alert, a.Why), ofAnyCluster(a.Alert, a.Do), a.Expr}, "\n")
		n, known := at[key]
		if !known {
			n, at[key] = len(rules), len(rules)
			rules = append(rules, alertsOfRule{alertView: a, Key: a.Rule + " " + a.Severity + " " + a.State})
		}
		if known && a.Cluster() != rules[n].All[0].Cluster() {
			rules[n].Why, rules[n].Do = ofAnyCluster(a.Alert, a.Why), ofAnyCluster(a.Alert, a.Do)
		}
		rules[n].All = append(rules[n].All, a)
	}
	return rules
}

// ofAnyCluster is what an alert says as it holds for its rule in any cluster: CLUSTER stands in a command for the name of its own.
func ofAnyCluster(a watch.Alert, text string) string {
	for _, command := range []string{"plimsoll advise ", "plimsoll watch "} {
		text = strings.ReplaceAll(text, command+a.Cluster()+" ", command+"CLUSTER ")
	}
	return text
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

// noticed is how long after a change its server may have been asked about it: what was noticed so soon after an alert began may have happened before.
const noticed = time.Minute

// before are the changes that may have happened before an alert began. Of a mark and of a run the moment is known, of all else when it was noticed.
func before(all []watch.Change, since time.Time) []watch.Change {
	return slices.DeleteFunc(all, func(c watch.Change) bool {
		if c.Kind == watch.Mark || c.Kind == runKind {
			return c.At.After(since)
		}
		return c.At.After(since.Add(noticed))
	})
}

func (s fleetHandlers) alerts(w http.ResponseWriter, r *http.Request) error {
	f := s.Watch.picture()
	p := alertsPage{Watched: len(f.Instances) > 0, Why: s.Watch.Why, Alerts: []alertView{}}
	all := f.Alerts
	from := s.Now()
	for _, a := range all {
		if begins := a.Since.Add(-beforeAlert); begins.Before(from) {
			from = begins
		}
	}
	var known history // of all of them, read once
	if len(all) > 0 {
		known = s.history(r.Context(), "", from, s.Now())
	}
	for _, a := range all {
		v := s.viewOf(a)
		v.Before = before(known.of(a.Instance, a.Since.Add(-beforeAlert), a.Since.Add(noticed)), a.Since)
		v.Before = v.Before[:min(len(v.Before), 5)]
		p.Alerts = append(p.Alerts, v)
	}
	slices.SortStableFunc(p.Alerts, func(a, b alertView) int { return rank(a.Alert) - rank(b.Alert) })
	p.Rules = byRule(p.Alerts)
	s.show(w, r, http.StatusOK, "alerts", p)
	return nil
}

func (s *Server) viewOf(a watch.Alert) alertView {
	v := alertView{Alert: a, Page: a.Page()}
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
