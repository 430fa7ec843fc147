// Package rules evaluates alerting and recording rules of Prometheus' files on the kept series, and tells who should know.
package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/store"
)

// Series is where rules read and write; a *store.Store is one.
type Series interface {
	Instant(ctx context.Context, expr string, at time.Time) (store.Value, error)
	Append(ctx context.Context, samples []watch.Sample) error
	Expand(ctx context.Context, text string, labels map[string]string, value float64, at time.Time) (string, error)
}

// Config is what an Evaluator works with.
type Config struct {
	Series   Series
	Groups   []store.Group
	Silences *Silences                            // nil: there are none
	Fired    func(context.Context, []watch.Alert) // is told after every evaluation of what fires and what was resolved in it; may be nil
	Unread   func(string, time.Time) bool         // tells of an instance that nothing newer is known than what was so at a time; without a name, of any; may be nil
	Log      *slog.Logger
	Now      func() time.Time
	Every    time.Duration // 0: 5 s
}

// Evaluator knows the state of every alert. Its methods are safe for concurrent use.
type Evaluator struct {
	cfg Config

	pass   sync.Mutex        // one evaluation at a time; it guards wrote and seeded
	wrote  map[ruleKey]wrote // by the rule that records them; the series of alerts have none
	seeded bool              // wrote has the alerts of the process before

	mu     sync.Mutex
	active map[string]*active // pending and firing, by group and labels
	last   map[ruleKey]health
}

// wrote are the series that were written last, by their labels.
type wrote map[string]watch.Sample

// active is an alert whose condition holds, or held until lately.
type active struct {
	watch.Alert
	of   ruleKey
	held time.Time // when it held last
}

type health struct {
	At   time.Time
	Took time.Duration
	Err  string
}

// New prepares an Evaluator; nothing is evaluated before Run or Evaluate.
func New(cfg Config) *Evaluator {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Every = cmp.Or(cfg.Every, 5*time.Second)
	return &Evaluator{cfg: cfg, active: map[string]*active{}, last: map[ruleKey]health{}, wrote: map[ruleKey]wrote{}}
}

// Read reads files of rules.
func Read(files ...string) ([]store.Group, error) {
	var all []store.Group
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		groups, err := store.ParseRules(file, text)
		if err != nil {
			return nil, err
		}
		all = append(all, groups...)
	}
	return all, nil
}

// Run evaluates until ctx ends.
func (e *Evaluator) Run(ctx context.Context) {
	tick := time.NewTicker(e.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.Evaluate(ctx, e.cfg.Now())
		}
	}
}

// Groups are the rules as they were read.
func (e *Evaluator) Groups() []store.Group { return e.cfg.Groups }

// Alerts are those that are pending or fire, the gravest first.
func (e *Evaluator) Alerts() []watch.Alert {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]watch.Alert, 0, len(e.active))
	for _, a := range e.active {
		alert := a.Alert
		alert.Silenced = e.cfg.Silences.Mutes(alert.Labels, e.cfg.Now())
		all = append(all, alert)
	}
	slices.SortFunc(all, gravestFirst)
	return all
}

var gravity = map[string]int{"critical": 0, "warning": 1, "info": 2}

func gravestFirst(a, b watch.Alert) int {
	return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(gravity[a.Severity], gravity[b.Severity]), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Instance, b.Instance))
}

// Evaluate evaluates every rule once. A rule that cannot be evaluated leaves its alerts as they are, as does an instance that is not polled or whose
// samples cannot be kept: nothing is resolved for want of an answer.
func (e *Evaluator) Evaluate(ctx context.Context, at time.Time) {
	e.pass.Lock()
	defer e.pass.Unlock()
	e.seed(ctx, at)
	var resolved []watch.Alert
	for _, g := range e.cfg.Groups {
		for _, r := range g.Rules {
			gone, err := e.rule(ctx, g, r, at)
			if ctx.Err() != nil {
				return
			}
			resolved = append(resolved, gone...)
			e.note(g, r, at, err)
		}
	}
	alerts := e.Alerts()
	e.write(ctx, at, alerts)
	if e.cfg.Fired == nil {
		return
	}
	told := resolved
	for _, a := range alerts {
		if a.State == Firing {
			told = append(told, a)
		}
	}
	e.cfg.Fired(ctx, told)
}

func (e *Evaluator) note(g store.Group, r store.Rule, at time.Time, err error) {
	h := health{At: at, Took: e.cfg.Now().Sub(at)}
	if err != nil {
		h.Err = err.Error()
		e.cfg.Log.Error("evaluate rule", "group", g.Name, "rule", cmp.Or(r.Alert, r.Record), "error", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last[keyOfRule(g, r)] = h
}

// Health tells when a rule was evaluated last, and what was wrong with it then.
func (e *Evaluator) Health(g store.Group, r store.Rule) (at time.Time, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.last[keyOfRule(g, r)]
	if h.Err != "" {
		err = errors.New(h.Err)
	}
	return h.At, err
}

// ruleKey is a rule: two of a group may have one name, and differ in their expressions or labels.
type ruleKey struct{ group, name, expr, labels string }

func keyOfRule(g store.Group, r store.Rule) ruleKey {
	return ruleKey{g.Name, cmp.Or(r.Alert, r.Record), r.Expr, keyOf(r.Labels)}
}

// The states of an alert.
const (
	Pending  = "pending"
	Firing   = "firing"
	Resolved = "resolved"
)

func (e *Evaluator) rule(ctx context.Context, g store.Group, r store.Rule, at time.Time) (resolved []watch.Alert, err error) {
	v, err := e.cfg.Series.Instant(ctx, r.Expr, at)
	if err != nil {
		return nil, err
	}
	if r.Record != "" {
		return nil, e.record(ctx, keyOfRule(g, r), r, v, at)
	}
	of := keyOfRule(g, r)
	seen := map[string]bool{}
	for _, line := range v.Lines {
		labels := maps.Clone(line.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		delete(labels, "__name__")
		value := line.Points[0].Value
		for name, text := range r.Labels {
			if labels[name], err = e.cfg.Series.Expand(ctx, text, line.Labels, value, at); err != nil {
				return nil, err
			}
		}
		labels["alertname"] = r.Alert
		key := g.Name + "/" + keyOf(labels)
		seen[key] = true
		if err := e.hold(ctx, key, of, r, labels, value, at); err != nil {
			return nil, err
		}
	}
	return e.end(of, r, seen, at), nil
}

// hold books that a rule's condition holds.
func (e *Evaluator) hold(ctx context.Context, key string, of ruleKey, r store.Rule, labels map[string]string, value float64, at time.Time) error {
	texts := map[string]string{}
	for name, text := range r.Annotations {
		filled, err := e.cfg.Series.Expand(ctx, text, labels, value, at)
		if err != nil {
			return err
		}
		texts[name] = filled
	}
	if strings.TrimSpace(texts["summary"]) == "" { // as of a template that has nothing to say
		texts["summary"] = r.Alert
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.active[key]
	if a == nil {
		a = &active{Alert: watch.Alert{
			Rule: r.Alert, Instance: labels["instance"], Severity: cmp.Or(labels["severity"], "warning"), State: Pending, Expr: r.Expr, Since: at, Labels: labels,
		}, of: of}
		e.active[key] = a
	}
	a.Value, a.Summary, a.Why, a.Do = value, texts["summary"], cmp.Or(texts["why"], texts["description"]), texts["do"]
	a.Runbook, a.Inputs = cmp.Or(texts["runbook"], texts["runbook_url"]), texts["inputs"]
	a.held = at
	if a.State == Pending && at.Sub(a.Since) >= r.For {
		a.State, a.Fired = Firing, at
	}
	return nil
}

// end takes alerts away whose condition does not hold any more, and returns those that had fired.
func (e *Evaluator) end(of ruleKey, r store.Rule, seen map[string]bool, at time.Time) (resolved []watch.Alert) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, a := range e.active {
		if a.of != of || seen[key] {
			continue
		}
		if e.cfg.Unread != nil && e.cfg.Unread(a.Instance, a.held) {
			continue
		}
		if a.State == Firing && at.Sub(a.held) < r.KeepFiring {
			continue
		}
		delete(e.active, key)
		if a.State == Firing {
			a.State, a.Resolved = Resolved, at
			resolved = append(resolved, a.Alert)
		}
	}
	return resolved
}

func (e *Evaluator) record(ctx context.Context, key ruleKey, r store.Rule, v store.Value, at time.Time) error {
	var samples []watch.Sample
	for _, line := range v.Lines {
		s := watch.Sample{Name: r.Record, At: at, Value: line.Points[0].Value}
		labels := maps.Clone(r.Labels)
		for name, value := range line.Labels {
			if _, own := r.Labels[name]; !own && name != "__name__" {
				s.Labels = append(s.Labels, watch.Label{Name: name, Value: value})
			}
		}
		for name, value := range labels {
			s.Labels = append(s.Labels, watch.Label{Name: name, Value: value})
		}
		samples = append(samples, s)
	}
	return e.keep(ctx, key, samples, at)
}

// keep writes samples, and the end of each series that was written the last time and is not now, as Prometheus does: else the state that an
// alert had would be seen for five minutes more, beside the one that it has.
func (e *Evaluator) keep(ctx context.Context, key ruleKey, samples []watch.Sample, at time.Time) error {
	now := make(wrote, len(samples))
	for _, s := range samples {
		labels := map[string]string{}
		for _, l := range s.Labels {
			labels[l.Name] = l.Value
		}
		now[keyOf(labels)] = s
	}
	for labels, s := range e.wrote[key] {
		if _, still := now[labels]; !still {
			s.At, s.Value = at, store.Ended()
			samples = append(samples, s)
		}
	}
	if err := e.cfg.Series.Append(ctx, samples); err != nil {
		return err
	}
	e.wrote[key] = now
	return nil
}

// seed takes over which series of alerts a process before this one has left, so that they end at once where they are not written again.
func (e *Evaluator) seed(ctx context.Context, at time.Time) {
	if e.seeded {
		return
	}
	v, err := e.cfg.Series.Instant(ctx, alertSeries, at)
	if err != nil {
		e.cfg.Log.Error("read the state of alerts of before", "error", err) // and again at the next pass
		return
	}
	left := e.wrote[ruleKey{}]
	if left == nil {
		left = wrote{}
		e.wrote[ruleKey{}] = left
	}
	for _, line := range v.Lines {
		s := watch.Sample{Name: alertSeries}
		delete(line.Labels, "__name__")
		for _, name := range slices.Sorted(maps.Keys(line.Labels)) {
			s.Labels = append(s.Labels, watch.Label{Name: name, Value: line.Labels[name]})
		}
		left[keyOf(line.Labels)] = s
	}
	e.seeded = true
}

// alertSeries is the series that holds the state of alerts.
const alertSeries = "ALERTS"

// write keeps the state of alerts as the series ALERTS, as Prometheus does.
func (e *Evaluator) write(ctx context.Context, at time.Time, alerts []watch.Alert) {
	var samples []watch.Sample
	for _, a := range alerts {
		s := watch.Sample{Name: alertSeries, At: at, Value: 1, Labels: []watch.Label{{Name: "alertstate", Value: a.State}}}
		for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
			s.Labels = append(s.Labels, watch.Label{Name: name, Value: a.Labels[name]})
		}
		samples = append(samples, s)
	}
	if err := e.keep(ctx, ruleKey{}, samples, at); err != nil {
		e.cfg.Log.Error("keep the state of alerts", "error", err)
	}
}

func keyOf(labels map[string]string) string {
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&key, "%s=%q,", name, labels[name])
	}
	return key.String()
}
