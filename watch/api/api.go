// Package api answers what Grafana asks of a Prometheus data source, and shows the fleet's latest values to a Prometheus that scrapes.
// It is http.Handlers: who may ask is decided by whoever mounts them.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/rules"
	"plimsoll/watch/store"
)

// API is the query API. Rules may be nil, and so may Alerts, if the alerts are those of the rules.
type API struct {
	Store   *store.Store
	Rules   *rules.Evaluator
	Alerts  func() []watch.Alert
	Now     func() time.Time
	Version string
}

// Handler answers below /api/v1/.
func (a *API) Handler() http.Handler {
	if a.Now == nil {
		a.Now = time.Now
	}
	mux := http.NewServeMux()
	for path, answer := range map[string]func(*http.Request) (any, error){
		"query": a.query, "query_range": a.queryRange, "query_exemplars": a.exemplars, "series": a.series, "labels": a.labels, "label/{name}/values": a.values,
		"metadata": a.metadata, "rules": a.rules, "alerts": a.alerts, "status/buildinfo": a.buildInfo, "status/flags": noFlags,
	} {
		mux.Handle("GET /api/v1/"+path, answering(answer))
		mux.Handle("POST /api/v1/"+path, answering(answer))
	}
	return mux
}

// badRequest is what the asker got wrong.
type badRequest struct{ error }

func (b badRequest) Unwrap() error { return b.error }

// answering writes answers as Prometheus does.
type answering func(*http.Request) (any, error)

func (f answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type envelope struct {
		Status    string   `json:"status"`
		Data      any      `json:"data,omitempty"`
		ErrorType string   `json:"errorType,omitempty"`
		Error     string   `json:"error,omitempty"`
		Warnings  []string `json:"warnings,omitempty"`
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	data, err := f(r)
	w.Header().Set("Content-Type", "application/json")
	e := envelope{Status: "success", Data: data}
	if cut, is := data.(truncated); is {
		e.Data, e.Warnings = cut.data, []string{truncatedWarning}
	}
	if err != nil {
		status := http.StatusUnprocessableEntity
		e = envelope{Status: "error", ErrorType: "execution", Error: err.Error()}
		switch {
		case errors.As(err, new(badRequest)), errors.As(err, new(store.BadQuery)):
			status, e.ErrorType = http.StatusBadRequest, "bad_data"
		case errors.Is(err, context.Canceled):
			status, e.ErrorType = http.StatusServiceUnavailable, "canceled"
		}
		w.WriteHeader(status)
	}
	_ = json.NewEncoder(w).Encode(e) // nobody is left to be told
}

func (a *API) query(r *http.Request) (any, error) {
	at, err := a.time(r, "time", a.Now())
	if err != nil {
		return nil, err
	}
	v, err := a.Store.Instant(r.Context(), r.FormValue("query"), at)
	if err != nil {
		return nil, err
	}
	type sample struct {
		Metric map[string]string `json:"metric"`
		Value  store.Point       `json:"value"`
	}
	var result any = v.Lines
	switch v.Type {
	case "vector":
		all := make([]sample, len(v.Lines))
		for n, l := range v.Lines {
			all[n] = sample{l.Labels, l.Points[0]}
		}
		result = all
	case "scalar":
		result = v.Lines[0].Points[0]
	case "string":
		result = []any{float64(at.UnixMilli()) / 1000, v.Text}
	}
	return map[string]any{"resultType": v.Type, "result": result}, nil
}

// mostPoints are in one series of an answer, as in Prometheus.
const mostPoints = 11000

func (a *API) queryRange(r *http.Request) (any, error) {
	from, to, err := a.span(r, time.Time{})
	if err != nil {
		return nil, err
	}
	step, err := duration(r.FormValue("step"))
	if err != nil || step <= 0 {
		return nil, badRequest{fmt.Errorf("step %q, expected seconds or a duration above 0", r.FormValue("step"))}
	}
	if to.Sub(from)/step > mostPoints {
		return nil, badRequest{fmt.Errorf("more than %d points in a series: take a larger step", mostPoints)}
	}
	lines, err := a.Store.Query(r.Context(), r.FormValue("query"), from, to, step)
	if err != nil {
		return nil, err
	}
	return map[string]any{"resultType": "matrix", "result": lines}, nil
}

func (a *API) series(r *http.Request) (any, error) {
	from, to, err := a.span(r, a.Now().Add(-time.Hour))
	if err != nil {
		return nil, err
	}
	all, err := a.Store.Series(r.Context(), r.Form["match[]"], from, to)
	if err != nil {
		return nil, err
	}
	return limited(r, "limit", all)
}

func (a *API) labels(r *http.Request) (any, error) {
	from, to, err := a.span(r, a.Now().Add(-24*time.Hour))
	if err != nil {
		return nil, err
	}
	all, err := a.Store.LabelNames(r.Context(), r.Form["match[]"], from, to)
	if err != nil {
		return nil, err
	}
	return limited(r, "limit", all)
}

func (a *API) values(r *http.Request) (any, error) {
	from, to, err := a.span(r, a.Now().Add(-24*time.Hour))
	if err != nil {
		return nil, err
	}
	all, err := a.Store.LabelValues(r.Context(), r.PathValue("name"), r.Form["match[]"], from, to)
	if err != nil {
		return nil, err
	}
	return limited(r, "limit", all)
}

// metadata says what kinds series are, for completion in Grafana.
func (a *API) metadata(r *http.Request) (any, error) {
	now := a.Now()
	names, err := a.Store.LabelValues(r.Context(), "__name__", nil, now.Add(-time.Hour), now)
	if err != nil {
		return nil, err
	}
	type meta struct {
		Type string `json:"type"`
		Help string `json:"help"`
		Unit string `json:"unit"`
	}
	most, err := limitOf(r, "limit")
	if err != nil {
		return nil, err
	}
	all := map[string][]meta{}
	for _, name := range names {
		if one := r.FormValue("metric"); one != "" && one != name {
			continue
		}
		if most > 0 && len(all) == most {
			return truncated{all}, nil
		}
		all[name] = []meta{{Type: kind(name), Help: help[name]}}
	}
	return all, nil
}

func (a *API) buildInfo(*http.Request) (any, error) {
	// Grafana asks for the version to know what it may ask: this is the version of Prometheus whose API is answered here.
	return map[string]string{"version": "3.0.0", "revision": a.Version, "branch": "plimsoll", "buildUser": "", "buildDate": "", "goVersion": ""}, nil
}

func noFlags(*http.Request) (any, error) { return map[string]string{}, nil }

// span is from start to end; without a start it begins at otherwise, which must be given where the asker need not.
func (a *API) span(r *http.Request, otherwise time.Time) (from, to time.Time, err error) {
	if err := r.ParseForm(); err != nil {
		return from, to, badRequest{err}
	}
	if from, err = a.time(r, "start", otherwise); err != nil {
		return from, to, err
	}
	if to, err = a.time(r, "end", a.Now()); err != nil {
		return from, to, err
	}
	switch {
	case from.IsZero():
		return from, to, badRequest{errors.New("no start")}
	case to.Before(from):
		return from, to, badRequest{errors.New("the end is before the start")}
	}
	return from, to, nil
}

// time reads a parameter: seconds since 1970, or RFC 3339.
func (a *API) time(r *http.Request, name string, otherwise time.Time) (time.Time, error) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return time.UnixMilli(int64(seconds * 1000)), nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, badRequest{fmt.Errorf("%s %q, expected seconds since 1970 or RFC 3339", name, text)}
	}
	return at, nil
}

func duration(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	return store.Duration(text)
}

// the alerts and rules

func (a *API) alerts(*http.Request) (any, error) {
	all, active := []alert{}, a.Alerts
	if active == nil && a.Rules != nil {
		active = a.Rules.Alerts
	}
	if active != nil {
		for _, one := range active() {
			all = append(all, alertOf(one))
		}
	}
	return map[string]any{"alerts": all}, nil
}

type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"`
	ActiveAt    time.Time         `json:"activeAt"`
	Value       string            `json:"value"`
}

func alertOf(a watch.Alert) alert {
	return alert{
		Labels: a.Labels, State: a.State, ActiveAt: a.Since, Value: strconv.FormatFloat(a.Value, 'e', -1, 64),
		Annotations: map[string]string{"summary": a.Summary, "why": a.Why, "do": a.Do, "runbook": a.Runbook},
	}
}

func (a *API) rules(*http.Request) (any, error) {
	type rule struct {
		Name        string            `json:"name"`
		Query       string            `json:"query"`
		Duration    float64           `json:"duration,omitempty"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations,omitempty"`
		Alerts      []alert           `json:"alerts"`
		Health      string            `json:"health"`
		LastError   string            `json:"lastError,omitempty"`
		Type        string            `json:"type"`
		State       string            `json:"state,omitempty"`
		Evaluated   time.Time         `json:"lastEvaluation"`
	}
	type group struct {
		Name     string  `json:"name"`
		File     string  `json:"file"`
		Rules    []rule  `json:"rules"`
		Interval float64 `json:"interval"`
	}
	groups := []group{}
	if a.Rules == nil {
		return map[string]any{"groups": groups}, nil
	}
	active := a.Rules.Alerts()
	for _, g := range a.Rules.Groups() {
		of := group{Name: g.Name, File: g.File, Interval: g.Interval.Seconds(), Rules: []rule{}}
		for _, r := range g.Rules {
			out := rule{
				Name: r.Alert, Query: r.Expr, Duration: r.For.Seconds(), Labels: r.Labels, Annotations: r.Annotations, Alerts: []alert{},
				Health: "ok", Type: "alerting", State: "inactive",
			}
			if r.Record != "" {
				out.Name, out.Type, out.State = r.Record, "recording", ""
			}
			at, err := a.Rules.Health(g, r)
			if out.Evaluated = at; err != nil {
				out.Health, out.LastError = "err", err.Error()
			}
			for _, one := range active {
				if one.Rule == r.Alert && one.Expr == r.Expr && r.Alert != "" {
					out.Alerts = append(out.Alerts, alertOf(one))
					if out.State != rules.Firing {
						out.State = one.State
					}
				}
			}
			of.Rules = append(of.Rules, out)
		}
		groups = append(groups, of)
	}
	return map[string]any{"groups": groups}, nil
}
