package watchcmd

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/home"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

// dying answers until it is dead.
type dying struct{ dead atomic.Bool }

func (d *dying) Collect(_ context.Context, _ watch.Level, now time.Time) (r watch.Reading, err error) {
	if d.dead.Load() {
		return r, errors.New("connection refused")
	}
	r.Add(now, "mysql_global_status_threads_running", 3)
	r.Add(now, "mysql_global_variables_read_only", 1)
	return r, nil
}

func (*dying) Close() error { return nil }

// Nobody who asks for an expression is told figures of a server that does not answer: the gap is a gap at once, and not after the five minutes for which
// Prometheus' language takes the last value for that of now.
func TestFiguresOfADeadServerAreAGap(t *testing.T) {
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	d := &dying{}
	sources := []watch.Source{{Instance: watch.Instance{Name: "orders/a", Cluster: "orders", Engine: "mysql"}, Collectors: []watch.Collector{d}}}
	s, err := OpenService(t.Context(), sources, &settings.Settings{}, deps, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	seen := func(expr string) int {
		t.Helper()
		v, err := s.Series.Instant(t.Context(), expr, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return len(v.Lines)
	}
	await := func(what, expr string) {
		t.Helper()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(20 * time.Second); seen(expr) == 0; <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("%s is not seen", what)
			}
		}
	}
	await("a figure", "mysql_global_status_threads_running")
	d.dead.Store(true)
	await("that it is down", "up == 0")
	if n := seen("mysql_global_status_threads_running"); n != 0 {
		t.Error("the figures of a dead server are told as of now")
	}
	if n := seen("mysql_global_variables_read_only"); n != 1 {
		t.Errorf("how it is set is known by %d series", n)
	}
	d.dead.Store(false)
	await("a figure of the server that is back", "mysql_global_status_threads_running")
	cancel()
	if err := errors.Join(<-done, s.Close()); err != nil {
		t.Error(err)
	}
}

// What happens to a server reaches people: from its reading by a rule of one's own to a webhook, when it begins and when it is over.
func TestARuleReachesAWebhook(t *testing.T) {
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	told := make(chan string, 8)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var notice struct {
			Status string
			Alerts []struct{ Annotations map[string]string }
		}
		if err := json.NewDecoder(r.Body).Decode(&notice); err != nil || len(notice.Alerts) != 1 {
			told <- "something else"
			return
		}
		told <- notice.Status + ": " + notice.Alerts[0].Annotations["summary"]
	}))
	defer hook.Close()
	t.Setenv("HOOK", hook.URL)
	const own = "groups: [{name: mine, rules: [{alert: Gone, expr: up == 0, annotations: {summary: '{{ $labels.instance }} is gone'}}]}]\n"
	if err := os.WriteFile("mine.yml", []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := settings.Parse("watch.yaml", []byte("rules: [mine.yml]\nshipped_rules: false\nnotify: [{webhook: {env: HOOK}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	d := &dying{}
	d.dead.Store(true)
	sources := []watch.Source{{Instance: watch.Instance{Name: "orders/a", Cluster: "orders", Engine: "mysql"}, Collectors: []watch.Collector{d}}}
	s, err := OpenService(t.Context(), sources, set, deps, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	for _, want := range []string{"firing: orders/a is gone", "resolved: orders/a is gone"} {
		late := time.NewTimer(30 * time.Second)
		select {
		case got := <-told:
			if got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		case <-late.C:
			t.Fatalf("nobody is told: %s", want)
		}
		d.dead.Store(false)
	}
	cancel()
	if err := errors.Join(<-done, s.Close()); err != nil {
		t.Error(err)
	}
}
