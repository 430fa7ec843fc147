package watchcmd

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
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

const childFull = "PLIMSOLL_TEST_FULL_DISK"

// While the disk is full no rule finds anything, and that says nothing of the servers: what fires goes on, until samples are kept again. A limit of the
// process on the size of files is the disk that is full.
func TestNothingIsResolvedWhileTheDiskIsFull(t *testing.T) {
	if os.Getenv(childFull) != "" {
		watchOnAFullDisk(t)
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNothingIsResolvedWhileTheDiskIsFull$", "-test.v")
	child.Env = append(os.Environ(), childFull+"=yes")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func watchOnAFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // the write fails instead
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	told := make(chan string, 8)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var notice struct {
			Status string
			Alerts []struct{ Labels map[string]string }
		}
		if err := json.NewDecoder(r.Body).Decode(&notice); err == nil && len(notice.Alerts) == 1 && notice.Alerts[0].Labels["alertname"] == "SamplesNotKept" {
			told <- notice.Status
		}
	}))
	defer hook.Close()
	t.Setenv("HOOK", hook.URL)
	const own = "groups: [{name: mine, rules: [{alert: Gone, expr: up == 0}]}]\n"
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
	s.blind.after = time.Nanosecond // the test looks within a millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	await := func(what string, holds func() bool) {
		t.Helper()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(40 * time.Second); !holds(); <-tick.C {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	fires := func() bool {
		all := s.rules.Alerts()
		return len(all) == 1 && all[0].State == "firing"
	}
	lost := func() bool { since, _ := s.Watcher.Unkept(); return !since.IsZero() }

	await("the alert does not fire", fires)
	limit := syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	await("with a full disk samples are kept", lost)
	later := time.Now().Add(10 * time.Minute) // when the last sample that was kept counts no more
	if v, err := s.Series.Instant(t.Context(), "up == 0", later); err != nil || len(v.Lines) != 0 {
		t.Fatalf("the rule finds %v, %v", v.Lines, err)
	}
	s.rules.Evaluate(t.Context(), later)
	if !fires() {
		t.Errorf("%+v: resolved since nothing could be written", s.rules.Alerts())
	}
	shows := func(all []watch.Alert) bool {
		return slices.ContainsFunc(all, func(a watch.Alert) bool { return a.Rule == "SamplesNotKept" && a.State == "firing" })
	}
	unkept := func() string {
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		_, value, _ := strings.Cut(answer.Body.String(), "\nplimsoll_watch_unkept_seconds ")
		value, _, _ = strings.Cut(value, "\n")
		return value
	}
	await("/metrics does not tell that samples are lost", func() bool { return unkept() != "" && unkept() != "0" })
	if !shows(s.Watcher.Fleet().Alerts) {
		t.Errorf("the fleet does not show that samples are lost: %+v", s.Watcher.Fleet().Alerts)
	}
	answer := httptest.NewRecorder()
	s.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/alerts", http.NoBody))
	if !strings.Contains(answer.Body.String(), `"alertname":"SamplesNotKept"`) {
		t.Errorf("the API says of alerts: %s", answer.Body)
	}
	d.dead.Store(false)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	await("with room again samples are not kept", func() bool { return !lost() })
	await("the alert of a server that is back stays", func() bool { return len(s.rules.Alerts()) == 0 })
	await("that samples are kept again is not told", func() bool { return len(told) == 2 })
	await("/metrics does not tell that samples are kept again", func() bool { return unkept() == "0" })
	if first, then := <-told, <-told; first != "firing" || then != "resolved" || len(s.Watcher.Fleet().Alerts) != 0 {
		t.Errorf("told of SamplesNotKept: %s, %s", first, then)
	}
	cancel()
	if err := errors.Join(<-done, s.Close()); err != nil {
		t.Error(err)
	}
}

// Somebody is told that nothing new will be told: once samples were lost for a minute, and when they are kept again.
func TestSomebodyIsToldThatSamplesAreLost(t *testing.T) {
	var b blindness
	begun := time.Date(2026, 11, 27, 13, 5, 2, 0, time.UTC)
	if got := b.turn(begun.Add(50*time.Second), begun, "no space left on device"); got != nil || b.firing() != nil {
		t.Errorf("%+v after 50 seconds", got)
	}
	for range 2 {
		got := b.turn(begun.Add(70*time.Second), begun, "no space left on device")
		if len(got) != 1 || got[0].State != "firing" || got[0].Summary != "no sample is kept since 13:05:02 UTC: no space left on device" || len(b.firing()) != 1 {
			t.Fatalf("%+v after 70 seconds", got)
		}
	}
	got := b.turn(begun.Add(90*time.Second), time.Time{}, "")
	if len(got) != 1 || got[0].State != "resolved" || b.firing() != nil {
		t.Errorf("%+v when samples are kept again", got)
	}
	if got := b.turn(begun.Add(100*time.Second), time.Time{}, ""); got != nil {
		t.Errorf("%+v afterwards", got)
	}
}
