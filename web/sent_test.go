package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/durable"
	"plimsoll/report/reporttest"
	"plimsoll/runbook/journal"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

var sentToken = regexp.MustCompile(` data-sent="([A-Z2-7]{26})"`)

// What a page shows already its stream does not send again: of a fleet of 500 in which one instance changed in between, one row.
func TestAStreamBeginsWithWhatThePageLacks(t *testing.T) {
	h := newHouse(t)
	m := newMoving(500)
	h.Watch.Fleet = m.picture
	v := h.entered()
	token := func() string {
		t.Helper()
		found := sentToken.FindStringSubmatch(v.get("/fleet").body)
		if found == nil {
			t.Fatal("the page has no token")
		}
		return found[1]
	}
	first := func(l *listener) [2]string {
		t.Helper()
		select {
		case e := <-l.events:
			return e
		case <-time.After(20 * time.Second):
			t.Fatal("the stream says nothing")
			return [2]string{}
		}
	}
	same, _ := listen(t, v, "/fleet", token())
	if e := first(same); e[0] != "ping" {
		t.Errorf("to a page that shows all of it %s of %d bytes is sent", e[0], len(e[1]))
	}
	before := token()
	m.change(func(all []watch.Instance) { all[300].Throughput = ptr(4321) })
	same.hear(t, "part", "4,321/s") // so that whoever comes now is shown that
	changed, _ := listen(t, v, "/fleet", before)
	var u update
	if e := first(changed); json.Unmarshal([]byte(e[1]), &u) != nil || u.HTML != "" || len(u.Rows) != 1 || u.Order != nil || len(e[1]) > mostOfAChange {
		t.Errorf("to a page that shows all but one row %s of %d bytes is sent, with %d rows", e[0], len(e[1]), len(u.Rows))
	}
	again, _ := listen(t, v, "/fleet", before) // as a browser does whose stream broke: it has seen more since
	again.hear(t, "part", `"id":"fleet","html"`)
	late := token()
	h.live.mu.Lock()
	h.live.pages[len(h.live.pages)-1].at = time.Now().Add(-2 * sentFor)
	h.live.mu.Unlock()
	slow, _ := listen(t, v, "/fleet", late)
	slow.hear(t, "part", `"id":"fleet","html"`)
	for range 3 * mostPages {
		v.get("/alerts")
	}
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	if len(h.live.pages) > mostPages {
		t.Errorf("%d pages are kept whose streams have not begun", len(h.live.pages))
	}
}

// A browser whose stream breaks asks again with what its address says: what another process has sent meanwhile is not what its page shows.
func TestAPageOfAnotherProcessIsNotKnown(t *testing.T) {
	one, other := newLive(t.Context(), nil), newLive(t.Context(), nil)
	defer one.close()
	defer other.close()
	sent := one.sent(map[string]string{"fleet": "old"})
	other.sent(map[string]string{"fleet": "new"})
	if parts := other.shown(sent); len(parts) > 0 {
		t.Errorf("to a page of another process %d parts are known", len(parts))
	}
	if parts := one.shown(sent); parts["fleet"] == nil || parts["fleet"].html != "old" {
		t.Errorf("of its own page it knows %v", parts)
	}
}

// writtenAt makes it so that the files of a result were written at a time.
func writtenAt(t *testing.T, dir string, at time.Time) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if err := os.Chtimes(filepath.Join(dir, one.Name()), time.Time{}, at); err != nil {
			t.Fatal(err)
		}
	}
}

// A report is made once for all who look at it, and again when its result is another.
func TestAReportIsMadeOnce(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	h.keep("timeline/1", reporttest.Timeline())
	dir, earlier := filepath.Join(h.folder, "results", "timeline", "1"), time.Now().Add(-10*time.Minute)
	writtenAt(t, dir, earlier)
	if first := v.get("/trials/result/timeline/1").body; !strings.Contains(first, "chart-figure") {
		t.Fatalf("no report: %s", first)
	}
	series, err := os.ReadFile(filepath.Join(dir, "series.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "series.csv"), []byte(strings.Repeat("?", len(series))), 0o600); err != nil {
		t.Fatal(err)
	}
	writtenAt(t, dir, earlier) // nothing tells that it is another file: who reads it finds that it is no series
	if again := v.get("/trials/result/timeline/1"); again.status != http.StatusOK || !strings.Contains(again.body, "chart-figure") {
		t.Errorf("the second look reads the result again: %d", again.status)
	}
	if err := os.Chtimes(filepath.Join(dir, "series.csv"), time.Time{}, time.Now().Add(-5*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if other := v.get("/trials/result/timeline/1"); other.status == http.StatusOK {
		t.Error("a result that is another is shown as it was")
	}
	for n := range mostReports + 2 {
		h.reports.keep("a stamp", resultPage{Name: fmt.Sprint("another ", n)})
	}
	if n := len(h.reports.kept); n != mostReports {
		t.Errorf("%d reports are kept", n)
	}
}

// ended is a run that has ended, as the store has it once its executor has said so.
func (h *house) ended(v *visitor) (durable.Run, *journal.State) {
	h.t.Helper()
	run := v.begin("test/quick", "orders")
	st := h.await(run, "done")
	for end := time.Now().Add(20 * time.Second); ; rest(h.t.Context(), 20*time.Millisecond) {
		executed, err := h.Runs.Store.Executes(h.t.Context(), run)
		if err != nil || executed && time.Now().After(end) {
			h.t.Fatalf("the run is still executed; %v", err)
		}
		if executed {
			continue
		}
		stored, err := h.Runs.Store.Run(h.t.Context(), run)
		if err != nil {
			h.t.Fatal(err)
		}
		if one, err := summarized(stored); err != nil || one.Summary.Status != "done" {
			h.t.Fatalf("the summary says %+v, %v", one.Summary, err)
		}
		return stored, st
	}
}

// However many runs there are, of those that have ended a list keeps a line, and reads no journal again.
func TestRunsThatNobodyLooksAtAreForgotten(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	stored, st := h.ended(v)
	run := stored.ID
	before := v.get("/runs").body
	spoil(t, h, 1, st.Events)
	for n := range mostStates + 10 {
		h.states.of(fmt.Sprint("another ", n))
	}
	if n := len(h.states.kept); n > mostStates {
		t.Errorf("%d runs are kept", n)
	}
	if _, kept := h.states.kept[run]; kept {
		t.Errorf("the run that was looked at first is kept among %d", len(h.states.kept))
	}
	if page := v.get("/runs").body; !strings.Contains(page, run) || strings.Count(page, "s-done") != strings.Count(before, "s-done") {
		t.Errorf("once its journal cannot be read any more, the list lacks the run: %s", page)
	}
	for n := range 5 {
		h.states.keepRow(durable.Run{ID: fmt.Sprint("gone ", n)}, runRow{})
	}
	if v.get("/runs"); len(h.states.rows) != 1 {
		t.Errorf("of 1 run %d lines are kept", len(h.states.rows))
	}
}

// A long journal is read piece by piece; until a list has read all of it, it tells what was said of the run last.
func TestALongJournalIsReadPieceByPiece(t *testing.T) {
	h := newHouse(t)
	stored, whole := h.ended(h.entered())
	run, pieces := stored.ID, 0
	for {
		row, read, err := h.rowFor(t.Context(), stored, 3)
		if err != nil || row.Status != "done" || row.Runbook != "test/quick" || row.Cluster != "orders" || row.By != "ann@test" || row.Run != run || read > 3 {
			t.Fatalf("after %d pieces the run is %+v, and %d entries were read: %v", pieces, row, read, err)
		}
		if pieces++; read == 0 || pieces > whole.Events {
			break
		}
	}
	if want := whole.Events/3 + 1; pieces < want || pieces > want+1 {
		t.Errorf("%d entries are read in %d pieces of 3", whole.Events, pieces)
	}
	if st := h.states.of(run).state; st.Events != whole.Events || st.Outcome != journal.RunDone {
		t.Errorf("read in pieces the run is %q after %d entries, and whole %q after %d", st.Outcome, st.Events, whole.Outcome, whole.Events)
	}
	if row, read, err := h.rowFor(t.Context(), stored, 0); err != nil || read != 0 || row.Changed != whole.Changed {
		t.Errorf("once it is known it is %+v, with %d entries read, %v", row, read, err)
	}
}

// However many runs have ended, a list goes on with a long journal where it stopped at the look before.
func TestALongJournalIsReadOnAmongManyRuns(t *testing.T) {
	h := newHouse(t)
	stored, whole := h.ended(h.entered())
	for pieces := 1; ; pieces++ {
		_, read, err := h.rowFor(t.Context(), stored, 3)
		if err != nil || pieces > whole.Events {
			t.Fatalf("after %d pieces of 3 it has not read %d entries: %v", pieces, whole.Events, err)
		}
		if read == 0 {
			break
		}
		for n := range 600 { // for which nothing is left
			another := stored
			another.ID = fmt.Sprint("another ", n)
			if row, read, err := h.rowFor(t.Context(), another, 0); err != nil || read != 0 || row.Status != "done" {
				t.Fatalf("another run is %+v, with %d entries read: %v", row, read, err)
			}
		}
	}
	if n := len(h.states.kept); n != 1 {
		t.Errorf("of one run that was read %d are kept", n)
	}
}

// Of many alerts of a rule the page shows the rule once, and reads what changed before them once.
func TestAlertsOfARuleStandTogether(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	f := h.Watch.Fleet()
	f.Alerts = nil
	for n := range 60 {
		a := watch.Alert{Rule: "ReplicaLag", Instance: fmt.Sprintf("shop%02d/n1", n), Severity: "warning", State: "firing", Summary: fmt.Sprintf("it is %d s behind", n), Why: "Reads from it are old.", Since: time.Now().Add(-time.Hour)}
		if n >= 20 {
			a.Rule, a.State = "DiskFills", "pending"
		}
		f.Alerts = append(f.Alerts, a)
	}
	f.Alerts = append(f.Alerts, watch.Alert{Rule: "Alone", Instance: "shop00/n1", Severity: "critical", State: "firing", Since: time.Now()})
	h.Watch.Fleet = func() watch.Fleet { return f }
	asked, changes := 0, h.Watch.Changes
	h.Watch.Changes = func(instance string, from, to time.Time) ([]watch.Change, error) {
		asked++
		return changes(instance, from, to)
	}
	page := v.get("/alerts").body
	if rules := strings.Count(page, "<article"); rules != 3 || asked != 1 {
		t.Errorf("61 alerts of 3 rules are shown as %d, and the changes were read %d times", rules, asked)
	}
	shown, folded := 0, 0
	for n, part := range strings.Split(page, "<details>") {
		inside, after, _ := strings.Cut(part, "</details>")
		if n == 0 {
			inside, after = "", part
		}
		folded, shown = folded+strings.Count(inside, "<li>"), shown+strings.Count(after, "<li>")
	}
	if shown != shownOfRule || folded != 60-shownOfRule || !strings.Contains(page, "Show 15 more") || !strings.Contains(page, "Show all 40") {
		t.Errorf("%d instances are shown and %d folded away: %s", shown, folded, page)
	}
	for _, a := range f.Alerts {
		if !strings.Contains(page, a.Page()) {
			t.Errorf("nothing leads to the alert of %s", a.Instance)
		}
	}
	if now := v.get("/").body; strings.Count(now, "ReplicaLag") != mostTrouble-1 || !strings.Contains(now, "and 11 more") || strings.Index(now, "Alone") > strings.Index(now, "ReplicaLag") {
		t.Errorf("the first page lists %d of them: %s", strings.Count(now, "ReplicaLag"), now)
	}
}

// Alerts of a rule whose advice names a command with the cluster stand together too: the card says it for any cluster, and that of one cluster for that.
func TestAlertsOfSeveralClustersStandTogether(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	f := h.Watch.Fleet()
	f.Alerts = nil
	for _, cluster := range []string{"shop", "pay"} {
		for _, node := range []string{"n1", "n2"} {
			f.Alerts = append(f.Alerts, watch.Alert{Rule: "WatchPaused", Instance: cluster + "/" + node, Severity: "warning", State: "firing", Do: "Look; plimsoll advise " + cluster + " says what to change.", Since: time.Now()})
		}
	}
	h.Watch.Fleet = func() watch.Fleet { return f }
	page := v.get("/alerts").body
	if n := strings.Count(page, "<article"); n != 1 || strings.Count(page, "plimsoll advise CLUSTER says what to change") != 1 || strings.Contains(page, "plimsoll advise shop") {
		t.Errorf("one rule in two clusters has %d cards: %s", n, page)
	}
	f.Alerts = f.Alerts[:2]
	if page = v.get("/alerts").body; strings.Count(page, "plimsoll advise shop says what to change") != 1 || strings.Contains(page, "CLUSTER") {
		t.Errorf("of one cluster: %s", page)
	}
}

// Most pages have nothing to take out, and are not copied; in the others colours go, and the rest stays.
func TestColoursAreTakenOut(t *testing.T) {
	page := []byte(strings.Repeat("<p>한글, tabs\t and\r\n lines</p>", 1000))
	if copies := testing.AllocsPerRun(5, func() { plain(page) }); copies != 0 {
		t.Errorf("a page without colours is copied %v times", copies)
	}
	if got := string(plain([]byte("a\x1b[31mred\x1b[0m\x1b]0;title\x07 b\x00\x7f\tc"))); got != "ared b\tc" {
		t.Errorf("%q is left", got)
	}
}

func TestRowsAreFound(t *testing.T) {
	table := `<table><tbody>` + "\n" + `<tr data-key="a&amp;b"><td>1 <time datetime="x">now</time></td></tr>` + "\n" + `<tr data-key="c"><td>2</td></tr></tbody></table>`
	p := partOf(table, 7)
	if strings.Join(p.keys, " ") != "a&b c" || p.still != "<table><tbody>\n</tbody></table>" || p.rows["a&b"].still != "<tr data-key=\"a&amp;b\"><td>1 </td></tr>\n" || p.rows["c"].html != `<tr data-key="c"><td>2</td></tr>` || p.rows["c"].version != 7 {
		t.Errorf("the rows are %+v, and around them is %q", p.rows, p.still)
	}
	for what, text := range map[string]string{"two tables": table + table, "the same key twice": strings.ReplaceAll(table, `"c"`, `"a&amp;b"`), "no rows": "<p>at <time>1</time></p>", "half a row": table[:40]} {
		if p := partOf(text, 7); p.keys != nil || p.still != withoutClocks(text) {
			t.Errorf("%s: the rows are %q", what, p.keys)
		}
	}
	if got := withoutClocks(`a<time x="1">b</time>c<time>d</time><time y>e</time>f`); got != "ac<time>d</time>f" {
		t.Errorf("%q is left", got)
	}
}

func TestEveryPageIsUnderItsTab(t *testing.T) {
	v := newHouse(t).entered()
	for path, tab := range map[string]string{"/": "/", "/fleet": "/fleet", "/fleet/orders/n1": "/fleet", "/alerts": "/alerts", "/advice": "/advice", "/advice/orders": "/advice", "/trials": "/trials", "/runs": "/runs", "/runbooks": "/runbooks", "/runbooks/test/quick": "/runbooks"} {
		if page := v.get(path).body; strings.Count(page, ` aria-current="page"`) != 1 || !strings.Contains(page, fmt.Sprintf(`<a href=%q aria-current="page">`, tab)) {
			t.Errorf("%s does not stand under the tab %s", path, tab)
		}
	}
}

// All who look at the curves of an instance at the same time ask the store once, and who comes later sees what is new.
func TestCurvesAreAskedForOnce(t *testing.T) {
	h := newHouse(t)
	at, asked := time.Now().Truncate(time.Hour), atomic.Int64{}
	h.Deps.Now = func() time.Time { return at }
	answers := h.Watch.Query
	failing := true
	h.Watch.Query = func(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]store.Line, error) {
		asked.Add(1)
		if failing {
			return nil, errors.New("the store is closed")
		}
		return answers(ctx, expr, from, to, step)
	}
	v := h.entered()
	if a := v.get("/fleet/orders/n1?span=24h"); a.status == http.StatusOK {
		t.Error("a page without its curves is shown")
	}
	failing = false
	asked.Store(0)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			headers := []string{"Accept-Language", "ko"}
			if n%2 == 0 {
				headers = []string{"Accept", "application/json"}
			}
			if a := v.get("/fleet/orders/n1?span=24h", headers...); a.status != http.StatusOK || !strings.Contains(a.body, "row lock") && n%2 == 0 {
				t.Errorf("the page is answered %d", a.status)
			}
		})
	}
	all.Wait()
	if curves := int64(len(curvesOf) + 1); asked.Load() != curves {
		t.Errorf("for %d curves and 20 readers the store was asked %d times", curves, asked.Load())
	}
	at = at.Add(queriedFor)
	if v.get("/fleet/orders/n1?span=24h"); asked.Load() != 2*int64(len(curvesOf)+1) {
		t.Errorf("later the store was asked %d times in all", asked.Load())
	}
	for n := range 2 * mostQueries {
		if _, err := h.query(t.Context(), fmt.Sprint(n), at.Add(-time.Hour), at, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(h.queries.kept); n > mostQueries {
		t.Errorf("%d answers are kept", n)
	}
}

// However long the store takes, a query is asked once: it is as old as its answer.
func TestASlowQueryIsAskedOnce(t *testing.T) {
	h := newHouse(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	h.Watch.Query = func(context.Context, string, time.Time, time.Time, time.Duration) ([]store.Line, error) {
		close(asked) // a second time it panics
		<-answer
		return nil, nil
	}
	from := h.Now().Truncate(time.Hour).UTC()
	what := query{"up", from, from.Add(time.Hour), time.Minute}
	var all sync.WaitGroup
	read := func() {
		if _, err := h.query(t.Context(), what.expr, what.from, what.to, what.step); err != nil {
			t.Error(err)
		}
	}
	all.Go(read)
	<-asked
	h.now.advance(2 * queriedFor)
	if _, first := h.queries.join(what, h.Now()); first {
		t.Fatal("what is not answered yet is asked again")
	}
	if _, first := h.queries.join(query{expr: "another"}, h.Now()); !first { // which throws away what is old
		t.Error("another query is taken for the same")
	}
	all.Go(read)
	close(answer)
	all.Wait()
	if _, first := h.queries.join(what, h.Now()); first {
		t.Error("what was answered just now is asked again")
	}
	h.now.advance(queriedFor)
	if _, first := h.queries.join(what, h.Now()); !first {
		t.Error("an old answer is given")
	}
}

// The first page reads what was advised about each cluster now and then, and not whenever somebody looks.
func TestAdviceIsReadNowAndThen(t *testing.T) {
	h := newHouse(t)
	read, latest := 0, h.Advice.Latest
	h.Advice.Latest = func(cluster string) ([]*advise.Report, error) { read++; return latest(cluster) }
	v := h.entered()
	clusters := len(h.Clusters(t.Context()))
	for range 10 {
		if page := v.get("/").body; !strings.Contains(page, "The burst bucket of the volume is empty in 7.5 hours") {
			t.Fatalf("the page lacks the advice: %s", page)
		}
	}
	if read != clusters {
		t.Errorf("of %d clusters it was read %d times", clusters, read)
	}
	h.now.advance(urgentFor)
	if v.get("/"); read != 2*clusters {
		t.Errorf("later it was read %d times in all", read)
	}
}
