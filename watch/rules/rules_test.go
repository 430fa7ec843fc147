package rules

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/runbook/books"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

func TestShippedRules(t *testing.T) {
	failures, tested, err := Test(t.Context(), filepath.Join("shipped", "tests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range failures {
		t.Error(f)
	}
	groups, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, g := range groups {
		for _, r := range g.Rules {
			count++
			if !tested[r.Expr] {
				t.Errorf("no test has %s fire: %s", r.Alert, r.Expr)
			}
			for _, needs := range []string{"summary", "why", "do"} {
				if r.Annotations[needs] == "" {
					t.Errorf("%s has no %s", r.Alert, needs)
				}
			}
			ships := named.FindAllString(r.Annotations["runbook"], -1)
			if ofTheWatch[r.Alert] {
				if r.Annotations["runbook"] != "" {
					t.Errorf("%s is no trouble of the cluster, and leads to %s", r.Alert, r.Annotations["runbook"])
				}
			} else if len(ships) == 0 {
				t.Errorf("%s names no runbook and no trial", r.Alert)
			}
			for _, book := range ships {
				if (watch.Alert{Runbook: book}).Trial() == "" {
					if !contains(books.Names(), book) {
						t.Errorf("%s names the runbook %s, which does not ship", r.Alert, book)
					}
					continue
				}
				if _, err := os.Stat(filepath.Join("../..", book)); err != nil || filepath.Ext(book) != ".yaml" {
					t.Errorf("%s names the trial %s, which does not ship: %v", r.Alert, book, err)
				}
			}
			if gravity[r.Labels["severity"]] == 0 && r.Labels["severity"] != "critical" {
				t.Errorf("%s has the severity %q", r.Alert, r.Labels["severity"])
			}
		}
	}
	if count < 30 {
		t.Errorf("%d rules ship", count)
	}
}

// Wherever an instance runs, an alert about it leads on: its rule names a runbook or a trial there, or says that there is none, and which command
// shows more.
func TestEveryAlertLeadsOn(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	at := time.Now()
	place := func(name, instance string) watch.Sample {
		return watch.Sample{Name: name, At: at, Value: 1, Labels: []watch.Label{{Name: "cluster", Value: "a"}, {Name: "instance", Value: instance}}}
	}
	if err := s.Append(t.Context(), []watch.Sample{place("plimsoll_rds", "a/db1"), place("plimsoll_rds", "a/db2"), place("plimsoll_aurora", "a/db2")}); err != nil {
		t.Fatal(err)
	}
	groups, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	none := 0
	for _, g := range groups {
		for _, r := range g.Rules {
			for _, instance := range []string{"a/n1", "a/db1", "a/db2"} {
				for _, value := range []float64{0, 1} {
					expand := func(text string) string {
						t.Helper()
						out, err := s.Expand(t.Context(), text, map[string]string{"cluster": "a", "instance": instance}, value, at)
						if err != nil {
							t.Fatal(err)
						}
						return out
					}
					book, do := expand(r.Annotations["runbook"]), expand(r.Annotations["do"])
					if book != "" {
						if named.FindString(book) != book {
							t.Errorf("%s of %s: %q is no runbook and no trial", r.Alert, instance, book)
						}
						continue
					}
					if !ofTheWatch[r.Alert] {
						none++
					}
					if !strings.Contains(do, "There is no runbook for that on ") || !strings.Contains(do, "plimsoll watch a shows") {
						t.Errorf("%s of %s names no runbook and no trial, and does not say so with the command that shows more: %s", r.Alert, instance, do)
					}
				}
			}
		}
	}
	if none == 0 || none > 10 {
		t.Errorf("%d alerts lead to no runbook", none)
	}
}

// ofTheWatch are alerts about the watch itself, or about another, for which no runbook may change the cluster.
var ofTheWatch = map[string]bool{"LoginRefused": true, "LegRecordIsOld": true, "ArrayIsNotRead": true}

// named are the runbooks and trials in an annotation, which may choose by where the instance runs.
var named = regexp.MustCompile(`\b(?:aurora|cql|examples|kube|mysql|rds|singlestore|superdisk)/[\w./-]+`)

// RDS lets nobody set a global variable: there the alerts name its parameter group, and the node that has it.
func TestAlertsAboutRDSNameItsParameters(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	at := time.Now()
	if err := s.Append(t.Context(), []watch.Sample{{Name: "plimsoll_rds", At: at, Value: 1, Labels: []watch.Label{{Name: "cluster", Value: "a"}, {Name: "instance", Value: "a/db1"}}}}); err != nil {
		t.Fatal(err)
	}
	groups, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	expand := func(text, instance string) string {
		t.Helper()
		out, err := s.Expand(t.Context(), text, map[string]string{"instance": instance}, 1, at)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	sets := 0
	for _, g := range groups {
		for _, r := range g.Rules {
			if expand(r.Annotations["runbook"], "a/n1") != "mysql/set-variable" {
				continue
			}
			sets++
			elsewhere := expand(r.Annotations["inputs"], "a/n1")
			book, inputs := expand(r.Annotations["runbook"], "a/db1"), expand(r.Annotations["inputs"], "a/db1")
			if book != "rds/set-parameter" || inputs != "node=db1 "+elsewhere || !strings.HasPrefix(elsewhere, "name=") {
				t.Errorf("%s names %s with %s on RDS, and %s elsewhere", r.Alert, book, inputs, elsewhere)
			}
		}
	}
	if sets < 10 {
		t.Errorf("%d rules set a variable", sets)
	}
}

// What a rule about the instances of one engine names is for that engine: those of MySQL have mysql_ series or leave rings out.
func TestARuleNamesWhatFitsItsEngine(t *testing.T) {
	groups, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]int{}
	for _, g := range groups {
		for _, r := range g.Rules {
			ring, any := strings.Contains(r.Expr, "cassandra_") || strings.Contains(r.Expr, "scylla_") || strings.Contains(r.Expr, `job="cql"`), ofAnyEngine.MatchString(r.Expr)
			if any && !strings.Contains(r.Expr, `job="cql"`) && !strings.Contains(r.Expr, `job!="cql"`) {
				t.Errorf("%s fires for every engine: %s", r.Alert, r.Expr)
			}
			for _, book := range named.FindAllString(r.Annotations["runbook"], -1) {
				text := book
				if (watch.Alert{Runbook: book}).Trial() != "" {
					content, err := os.ReadFile(filepath.Join("../..", book))
					if err != nil {
						t.Fatal(err)
					}
					text = string(content)
				}
				if ring != (strings.HasPrefix(text, "cql/") || strings.Contains(text, "engine: cassandra")) {
					t.Errorf("%s, %s: %s is of another engine", r.Alert, r.Expr, book)
				}
			}
			rules[strconv.FormatBool(ring)]++
		}
	}
	if rules["true"] < 9 || rules["false"] < 30 {
		t.Errorf("%v", rules)
	}
}

// ofAnyEngine are the series that instances of every engine have.
var ofAnyEngine = regexp.MustCompile(`\bup\b|plimsoll_(login_refused|watch_paused|cores|disk_|bucket_|iops_censored)`)

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// fixed is series that a test answers.
type fixed struct {
	value *store.Value
	err   *error
}

func (f fixed) Instant(context.Context, string, time.Time) (store.Value, error) {
	return *f.value, *f.err
}
func (fixed) Append(context.Context, []watch.Sample) error { return nil }
func (fixed) Expand(_ context.Context, text string, _ map[string]string, _ float64, _ time.Time) (string, error) {
	return text, nil
}

func down(names ...string) store.Value {
	v := store.Value{Type: "vector"}
	for _, name := range names {
		cluster, _, _ := strings.Cut(name, "/")
		v.Lines = append(v.Lines, store.Line{Labels: map[string]string{"instance": name, "cluster": cluster}, Points: []store.Point{{Value: 0}}})
	}
	return v
}

// failsFor is series of which one expression cannot be evaluated.
type failsFor struct {
	fixed
	expr string
}

func (f failsFor) Instant(ctx context.Context, expr string, at time.Time) (store.Value, error) {
	if expr == f.expr {
		return store.Value{}, errors.New("out of memory")
	}
	return f.fixed.Instant(ctx, expr, at)
}

// Of two rules with one name in one group each has its own health.
func TestRulesOfOneNameHaveTheirOwnHealth(t *testing.T) {
	answer, none := down(), error(nil)
	mine, rings := store.Rule{Alert: "Down", Expr: `up{job!="cql"} == 0`}, store.Rule{Alert: "Down", Expr: `up{job="cql"} == 0`}
	g := store.Group{Name: "g", Rules: []store.Rule{mine, rings}}
	e := New(Config{Series: failsFor{fixed{&answer, &none}, mine.Expr}, Groups: []store.Group{g}, Log: slog.New(slog.DiscardHandler)})
	e.Evaluate(t.Context(), time.Unix(1700000000, 0))
	if at, err := e.Health(g, mine); err == nil || at.IsZero() {
		t.Errorf("the first: %v, %v", at, err)
	}
	if at, err := e.Health(g, rings); err != nil || at.IsZero() {
		t.Errorf("the second: %v, %v", at, err)
	}
}

// A summary of blanks alone, as of a template that has nothing to say, is as none.
func TestAnAlertWithoutASummaryIsCalledByItsRule(t *testing.T) {
	for _, summary := range []string{"", " \n", "it is down"} {
		answer, failure := down("a/n1"), error(nil)
		rule := store.Rule{Alert: "Down", Expr: "up == 0", Annotations: map[string]string{"summary": summary}}
		e := New(Config{Series: fixed{&answer, &failure}, Groups: []store.Group{{Name: "g", Rules: []store.Rule{rule}}}, Fired: func(context.Context, []watch.Alert) {}})
		e.Evaluate(t.Context(), time.Unix(1700000000, 0))
		want := "Down"
		if strings.TrimSpace(summary) != "" {
			want = summary
		}
		if all := e.Alerts(); len(all) != 1 || all[0].Summary != want {
			t.Errorf("with the summary %q: %+v", summary, all)
		}
	}
}

func TestAnAlertLivesAndDies(t *testing.T) {
	now := time.Unix(1700000000, 0)
	answer, failure := down("a/n1"), error(nil)
	rule := store.Rule{Alert: "Down", Expr: "up == 0", For: 30 * time.Second, Annotations: map[string]string{"summary": "down"}}
	var told [][]watch.Alert
	e := New(Config{
		Series: fixed{&answer, &failure}, Groups: []store.Group{{Name: "g", Rules: []store.Rule{rule}}},
		Now: func() time.Time { return now }, Fired: func(_ context.Context, all []watch.Alert) { told = append(told, all) },
	})
	pass := func(d time.Duration) { now = now.Add(d); e.Evaluate(t.Context(), now) }
	pass(0)
	if all := e.Alerts(); len(all) != 1 || all[0].State != Pending || !all[0].Resolved.IsZero() {
		t.Fatalf("at first %+v", all)
	}
	pass(20 * time.Second)
	pass(10 * time.Second)
	if all := e.Alerts(); all[0].State != Firing || !all[0].Resolved.IsZero() || len(told[len(told)-1]) != 1 {
		t.Fatalf("after 30 s %+v", all)
	}
	failure = errors.New("no answer")
	answer = down()
	pass(10 * time.Second)
	if all := e.Alerts(); len(all) != 1 {
		t.Error("it was resolved because nothing could be asked")
	}
	failure = nil
	pass(10 * time.Second)
	if all := e.Alerts(); len(all) != 0 {
		t.Errorf("at the end %+v", all)
	}
	if last := told[len(told)-1]; len(last) != 1 || last[0].State != Resolved || !last[0].Resolved.Equal(now) {
		t.Errorf("nobody was told that it is resolved: %+v", last)
	}
	answer = down("a/n1")
	pass(10 * time.Second)
	answer = down()
	pass(10 * time.Second)
	if last := told[len(told)-1]; len(last) != 0 {
		t.Errorf("told of one that never fired: %+v", last)
	}
}

// How long a condition has held, and since when people were told, is counted by the clock that runs on when somebody sets the time of day: the
// times that are compared have the reading of that clock.
func TestASetClockMovesNoAlert(t *testing.T) {
	answer, failure := down("a/n1"), error(nil)
	fired := make(chan struct{}, 1)
	telling := &Telling{}
	e := New(Config{
		Series: fixed{&answer, &failure}, Every: time.Millisecond,
		Groups: []store.Group{{Name: "g", Rules: []store.Rule{{Alert: "Down", Expr: "up == 0", For: 5 * time.Millisecond}}}},
		Fired: func(ctx context.Context, all []watch.Alert) {
			telling.Fired(ctx, all)
			if len(all) > 0 {
				select {
				case fired <- struct{}{}:
				default:
				}
			}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); e.Run(ctx) }()
	<-fired
	cancel()
	<-over
	runsOn := func(what string, at time.Time) {
		t.Helper()
		if !strings.Contains(at.String(), " m=") { // time.Time.String shows such a reading
			t.Errorf("%s, %s, would move with the time of day", what, at)
		}
	}
	for _, a := range e.Alerts() {
		runsOn("since when the condition holds", a.Since)
	}
	for _, told := range telling.groups {
		runsOn("when people were told", told.at)
	}
	if len(e.Alerts()) != 1 || len(telling.groups) != 1 {
		t.Errorf("%d alerts, %d groups", len(e.Alerts()), len(telling.groups))
	}
}

// While the watch spares a server, and has read nothing of it since an alert's condition held, the alert stays as it was: nobody is told that it is over.
func TestNothingIsResolvedOfAnInstanceThatIsNotPolled(t *testing.T) {
	now := time.Unix(1700000000, 0)
	answer, failure := down("a/n1"), error(nil)
	read := now // the instance was read
	var told []watch.Alert
	e := New(Config{
		Series: fixed{&answer, &failure}, Groups: []store.Group{{Name: "g", Rules: []store.Rule{{Alert: "Waits", Expr: "waits > 1"}}}},
		Now: func() time.Time { return now }, Fired: func(_ context.Context, all []watch.Alert) { told = all },
		Unread: func(name string, since time.Time) bool { return name == "a/n1" && read.Before(since) },
	})
	pass := func() { now = now.Add(30 * time.Second); e.Evaluate(t.Context(), now) }
	pass()
	answer = down()
	for range 3 {
		if pass(); len(told) != 1 || told[0].State != Firing {
			t.Fatalf("not read since it held: told %+v", told)
		}
	}
	read = now
	if pass(); len(told) != 1 || told[0].State != Resolved || len(e.Alerts()) != 0 {
		t.Errorf("read again: told %+v, %+v is left", told, e.Alerts())
	}
}

// What an alert was is not seen beside what it is: its series ends when it fires after it was pending, and when it is resolved; so does a
// recorded series whose expression has no value any more.
func TestTheSeriesOfAnAlertEndsWithIt(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it is thrown away
	rules := []store.Rule{{Alert: "Down", Expr: "up == 0", For: 30 * time.Second}, {Record: "down", Expr: "up == 0"}}
	e := New(Config{Series: s, Groups: []store.Group{{Name: "g", Rules: rules}}})
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	pass := func(up float64, alert string, recorded int) {
		t.Helper()
		at = at.Add(20 * time.Second)
		if err := s.Append(t.Context(), []watch.Sample{{Name: "up", At: at, Value: up, Labels: []watch.Label{{Name: "instance", Value: "a/n1"}}}}); err != nil {
			t.Fatal(err)
		}
		e.Evaluate(t.Context(), at)
		var states []string
		v, err := s.Instant(t.Context(), "ALERTS", at)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range v.Lines {
			states = append(states, line.Labels["alertstate"])
		}
		down, err := s.Instant(t.Context(), "down", at)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(states, " "); got != alert || len(down.Lines) != recorded {
			t.Errorf("%s: alerts %q, want %q; recorded %d series, want %d", at.Format(time.TimeOnly), got, alert, len(down.Lines), recorded)
		}
	}
	pass(1, "", 0)
	pass(0, "pending", 1)
	pass(0, "pending", 1)
	pass(0, "firing", 1)
	pass(1, "", 0)
	pass(0, "pending", 1)
	pass(1, "", 0)
}

// heard keeps what it is told.
type heard struct {
	titles []string
	fails  int
}

func (h *heard) Name() string { return "test" }
func (h *heard) Tell(_ context.Context, n Notice) error {
	if h.fails > 0 {
		h.fails--
		return errors.New("not now")
	}
	h.titles = append(h.titles, n.Title())
	return nil
}

func TestPeopleAreToldOnceAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &heard{fails: 2}
		telling := &Telling{Tellers: []Teller{h}, Repeat: time.Hour}
		alert := func(name, state string) watch.Alert {
			return watch.Alert{Rule: "Down", Instance: name, State: state, Summary: name + " is down", Labels: map[string]string{"instance": name, "cluster": "a"}}
		}
		tell := func(want string, alerts ...watch.Alert) {
			t.Helper()
			h.titles = nil
			telling.Fired(t.Context(), alerts)
			telling.Wait()
			if got := strings.Join(h.titles, "; "); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		tell("[FIRING] a/n1 is down", alert("a/n1", Firing)) // at the third attempt
		tell("", alert("a/n1", Firing))
		tell("[FIRING] Down in a: 2 alerts", alert("a/n1", Firing), alert("a/n2", Firing))
		tell("", alert("a/n2", Firing), alert("a/n1", Resolved))
		time.Sleep(2 * time.Hour)
		tell("[FIRING] a/n2 is down", alert("a/n2", Firing))
		muted := alert("a/n2", Firing)
		muted.Silenced = true
		tell("", muted)
		tell("[FIRING] a/n2 is down", alert("a/n2", Firing))
		tell("[resolved] a/n2 is down", alert("a/n2", Resolved))
		tell("")
	})
}

func TestSilencesHoldAndAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "watch", "silences.json")
	s, err := OpenSilences(file)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1700000000, 0)
	if _, err := s.Add(Silence{Until: now.Add(time.Hour)}, now); err == nil {
		t.Error("a silence of everything was taken")
	}
	added, err := s.Add(Silence{Labels: map[string]string{"instance": "a/n1"}, Until: now.Add(time.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenSilences(file)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Mutes(map[string]string{"instance": "a/n1", "alertname": "x"}, now) || again.Mutes(map[string]string{"instance": "a/n2"}, now) {
		t.Error("it mutes the wrong alerts")
	}
	if again.Mutes(map[string]string{"instance": "a/n1"}, now.Add(time.Hour)) {
		t.Error("it does not end")
	}
	if err := again.End(added.ID); err != nil || again.Mutes(map[string]string{"instance": "a/n1"}, now) {
		t.Errorf("it was not taken back: %v", err)
	}
}

func TestASilenceOfAnotherProcessHolds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "silences.json")
	watching, err := OpenSilences(file)
	if err != nil {
		t.Fatal(err)
	}
	person, err := OpenSilences(file)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	one, err := person.Add(Silence{Labels: map[string]string{"instance": "a/n1"}, Until: now.Add(time.Hour)}, now)
	if err != nil || !watching.Mutes(map[string]string{"instance": "a/n1"}, now) {
		t.Errorf("it is not silent; %v", err)
	}
	if _, err := watching.Add(Silence{Labels: map[string]string{"instance": "a/n2"}, Until: now.Add(time.Hour)}, now.Add(1)); err != nil {
		t.Fatal(err)
	}
	if err := person.End(one.ID); err != nil || watching.Mutes(map[string]string{"instance": "a/n1"}, now) || !person.Mutes(map[string]string{"instance": "a/n2"}, now) {
		t.Errorf("after the end of one of two: %v, %+v", err, watching.List(now))
	}
}

// remembering is an Alertmanager that keeps what it is told.
type remembering struct {
	heard
	told [][]watch.Alert
}

func (r *remembering) Every() time.Duration { return time.Minute }
func (r *remembering) Tell(ctx context.Context, n Notice) error {
	if err := r.heard.Tell(ctx, n); err != nil {
		return err
	}
	r.told = append(r.told, n.Alerts)
	return nil
}

// An Alertmanager forgets what it does not hear of for five minutes: it is told every minute of what fires, of each alert that is resolved though
// others of its rule fire on, and again until it answers.
func TestAnAlertmanagerHearsOfAlertsForAsLongAsTheyFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &remembering{}
		telling := &Telling{Tellers: []Teller{r}, Repeat: 4 * time.Hour}
		alert := func(name string) watch.Alert {
			return watch.Alert{Rule: "Down", Instance: name, State: Firing, Labels: map[string]string{"alertname": "Down", "instance": name, "cluster": "a"}}
		}
		pass := func(d time.Duration, fires ...watch.Alert) (counts map[string]int) {
			t.Helper()
			r.told = nil
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Second) {
				telling.Fired(t.Context(), fires)
				telling.Wait()
			}
			counts = map[string]int{}
			for _, told := range r.told {
				for _, a := range told {
					counts[a.State+" "+a.Instance]++
				}
			}
			return counts
		}
		one, two := alert("a/n1"), alert("a/n2")
		if got := pass(10*time.Minute, one, two); len(got) != 2 || got["firing a/n1"] != 10 || got["firing a/n2"] != 10 {
			t.Errorf("in ten minutes it hears of %v", got)
		}
		if got := pass(time.Minute, two); got["resolved a/n1"] != 1 || got["firing a/n2"] != 1 || len(got) != 2 {
			t.Errorf("when one of two is resolved it hears of %v", got)
		}
		muted := two
		muted.Silenced = true
		if got := pass(10*time.Minute, muted); len(got) != 0 {
			t.Errorf("of one that is silenced it hears %v", got)
		}
		r.fails = 3
		if got := pass(30*time.Second, one); got["firing a/n1"] != 1 || r.fails != 0 {
			t.Errorf("after it did not answer three times it hears of %v", got)
		}
		if got := pass(time.Minute); got["resolved a/n1"] != 1 || len(got) != 1 {
			t.Errorf("at the end it hears of %v", got)
		}
	})
}
