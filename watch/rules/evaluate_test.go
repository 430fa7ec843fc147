package rules

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/store"
)

// openStore opens a store with a server that is up or down at a time.
func openStore(t *testing.T) (s *store.Store, isUp func(at time.Time, value float64)) {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // it is thrown away
	return s, func(at time.Time, value float64) {
		t.Helper()
		if err := s.Append(t.Context(), []watch.Sample{{Name: "up", At: at, Value: value, Labels: []watch.Label{{Name: "instance", Value: "a/n1"}}}}); err != nil {
			t.Fatal(err)
		}
	}
}

// of are the values that a label has in the series of an expression, in order.
func of(t *testing.T, s *store.Store, expr, label string, at time.Time) string {
	t.Helper()
	v, err := s.Instant(t.Context(), expr, at)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, line := range v.Lines {
		all = append(all, line.Labels[label])
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A process that begins where another has ended shows no state of alerts of that one beside its own, and none of an alert that was resolved meanwhile.
func TestTheStateOfAlertsOfAProcessBeforeEnds(t *testing.T) {
	s, isUp := openStore(t)
	groups := []store.Group{{Name: "g", Rules: []store.Rule{{Alert: "Down", Expr: "up == 0", For: 30 * time.Second}}}}
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	pass := func(e *Evaluator, up float64, want string) {
		t.Helper()
		at = at.Add(20 * time.Second)
		isUp(at, up)
		e.Evaluate(t.Context(), at)
		if got := of(t, s, "ALERTS", "alertstate", at); got != want {
			t.Errorf("%s: %q, want %q", at.Format(time.TimeOnly), got, want)
		}
	}
	first := New(Config{Series: s, Groups: groups})
	pass(first, 0, "pending")
	pass(first, 0, "pending")
	pass(first, 0, "firing")
	second := New(Config{Series: s, Groups: groups})
	pass(second, 0, "pending")
	pass(second, 0, "pending")
	pass(second, 0, "firing")
	pass(New(Config{Series: s, Groups: groups}), 1, "")
}

// Two rules of one group with one name and expression, and other labels, do not take each other's series or alerts away.
func TestRulesThatDifferInTheirLabels(t *testing.T) {
	s, isUp := openStore(t)
	labels := func(severity string) map[string]string { return map[string]string{"severity": severity} }
	e := New(Config{Series: s, Groups: []store.Group{{Name: "g", Rules: []store.Rule{
		{Record: "down", Expr: "up == 0", Labels: labels("critical")}, {Record: "down", Expr: "up == 0", Labels: labels("warning")},
		{Alert: "Down", Expr: "up == 0", For: 30 * time.Second, Labels: labels("critical")}, {Alert: "Down", Expr: "up == 0", Labels: labels("warning")},
	}}}})
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	for range 3 {
		at = at.Add(20 * time.Second)
		isUp(at, 0)
		e.Evaluate(t.Context(), at)
		if got := of(t, s, "down", "severity", at); got != "critical warning" {
			t.Errorf("%s: recorded are those of %q", at.Format(time.TimeOnly), got)
		}
	}
	if got := of(t, s, `ALERTS{alertstate="firing"}`, "severity", at); got != "critical warning" {
		t.Errorf("there fire those of %q", got)
	}
}

// crowded counts the questions that are asked while another is.
type crowded struct {
	fixed
	inside, beside *atomic.Int32
}

func (c crowded) Instant(ctx context.Context, expr string, at time.Time) (store.Value, error) {
	if c.inside.Add(1) > 1 {
		c.beside.Add(1)
	}
	for range 100 {
		runtime.Gosched()
	}
	c.inside.Add(-1)
	return c.fixed.Instant(ctx, expr, at)
}

func TestOneEvaluationAtATime(t *testing.T) {
	answer, none := down("a/n1"), error(nil)
	c := crowded{fixed{&answer, &none}, new(atomic.Int32), new(atomic.Int32)}
	e := New(Config{Series: c, Groups: []store.Group{{Name: "g", Rules: []store.Rule{{Alert: "Down", Expr: "up == 0"}}}}})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for n := range 20 {
				e.Evaluate(t.Context(), time.Unix(1700000000+int64(n), 0))
			}
		})
	}
	all.Wait()
	if n := c.beside.Load(); n > 0 {
		t.Errorf("%d questions were asked beside another", n)
	}
}
