package web

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/internal/browser"
	"plimsoll/internal/document"
	"plimsoll/runbook/journal"
	"plimsoll/watch"
	"plimsoll/web/access"
)

// The budgets of pages that are counts and bytes; those that are times are rows of make bench SECTIONS=web.
const (
	mostCompressed = 60_000 // bytes of a page without curves, however much it shows
	mostOfAChange  = 4_000  // of what is sent when one instance of a large fleet changes
)

// moving is a fleet of a size whose instances a test changes.
type moving struct {
	mu    sync.Mutex
	fleet watch.Fleet
	looks atomic.Int64
}

func newMoving(size int) *moving {
	m := &moving{}
	few := watched().Fleet().Instances
	for n := range size {
		i := few[n%len(few)]
		i.Cluster, i.Node = fmt.Sprintf("shop%03d", n/2), fmt.Sprintf("n%d", n%2+1)
		i.Name = i.Cluster + "/" + i.Node
		m.fleet.Instances = append(m.fleet.Instances, i)
	}
	m.fleet.At = time.Now()
	return m
}

func (m *moving) picture() watch.Fleet {
	m.looks.Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.fleet
	f.Instances = append([]watch.Instance(nil), f.Instances...)
	return f
}

func (m *moving) change(f func(all []watch.Instance)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.fleet.Instances)
}

// A fleet of 500 is within the budget of any page, and when one of its instances changes only that one is sent.
func TestALargeFleetIsSentOnceAndThenByItsRows(t *testing.T) {
	h := newHouse(t)
	m := newMoving(500)
	h.Watch.Fleet = m.picture
	v := h.entered()
	page := v.get("/fleet", "Accept-Encoding", "gzip")
	if page.header.Get("Content-Encoding") != "gzip" || len(page.body) > mostCompressed {
		t.Errorf("the page is sent as %q in %d bytes, at most %d", page.header.Get("Content-Encoding"), len(page.body), mostCompressed)
	}
	z, err := gzip.NewReader(strings.NewReader(page.body))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(z)
	if err != nil || bytes.Count(whole, []byte("<tr data-key=")) != 500 {
		t.Errorf("it shows %d instances, %v", bytes.Count(whole, []byte("<tr data-key=")), err)
	}
	t.Logf("%d bytes, compressed %d", len(whole), len(page.body))
	l, _ := listen(t, v, "/fleet")
	l.hear(t, "part", `"id":"fleet","html"`)
	m.change(func(all []watch.Instance) { all[300].Throughput = ptr(1234) })
	one := l.hear(t, "part", "1,234/s")
	var u update
	if err := json.Unmarshal([]byte(one), &u); err != nil || len(u.Rows) != 1 || u.HTML != "" || u.Order != nil || len(one) > mostOfAChange {
		t.Errorf("of one instance %d bytes are sent, with %d rows and %d places, at most %d: %v", len(one), len(u.Rows), len(u.Order), mostOfAChange, err)
	}
	m.change(func(all []watch.Instance) { all[0], all[400] = all[400], all[0] })
	two := l.hear(t, "part", `"order"`)
	u = update{}
	if err := json.Unmarshal([]byte(two), &u); err != nil || len(u.Rows) != 0 || len(u.Order) != 500 || u.Order[0] != "shop200/n1" {
		t.Errorf("of two that changed places %d rows and %d places are sent: %v", len(u.Rows), len(u.Order), err)
	}
}

// Of a table that a search has narrowed the last row goes away too.
func TestTheLastRowGoesAway(t *testing.T) {
	h := newHouse(t)
	m := newMoving(3)
	h.Watch.Fleet = m.picture
	l, _ := listen(t, h.entered(), "/fleet?search=shop001")
	l.hear(t, "part", `data-key=\"shop001/n1\"`)
	m.change(func(all []watch.Instance) { all[2].Cluster, all[2].Name = "stock", "stock/n1" })
	var u update
	if err := json.Unmarshal([]byte(l.hear(t, "part", `"id":"fleet"`)), &u); err != nil || u.HTML == "" || strings.Contains(u.HTML, "data-key") {
		t.Errorf("without its only row the table is sent as %+v, %v", u, err)
	}
}

// In the browser a row that changed is another, each stands where it belongs, what is gone is gone, and who was in a row with the keyboard still is.
func TestBrowserTakesRowsThatChange(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	m := newMoving(6)
	h.Watch.Fleet = m.picture
	enters(t, h, b)
	b.Open(h.url+"/fleet", looks["1440"])
	b.Eval(`(async () => { while (!document.querySelector(".live.is-live")) await new Promise(done => setTimeout(done, 20)); const a = document.querySelector("[data-key='shop001/n1'] a"); a.focus(); a.dataset.mine = "yes"; })()`, nil)
	m.change(func(all []watch.Instance) {
		all[1].Throughput = ptr(4321)
		all[0], all[2] = all[2], all[0]
	})
	m.mu.Lock()
	m.fleet.Instances = append(m.fleet.Instances[:5:5], newMoving(8).fleet.Instances[7]) // the sixth is gone, the eighth is new
	m.mu.Unlock()
	var seen []string
	b.Eval(`(async () => { for (let n = 0; n < 200 && !document.querySelector("[data-key='shop003/n2']"); n++) await new Promise(done => setTimeout(done, 50));
	  await new Promise(done => setTimeout(done, 100));
	  return [[...document.querySelectorAll("[data-key]")].map(e => e.dataset.key).join(" "), String(document.querySelector("[data-key='shop000/n2']").textContent.includes("4,321/s")), document.activeElement.dataset.mine ?? "", document.activeElement.textContent]; })()`, &seen)
	if want := "shop001/n1 shop000/n2 shop000/n1 shop001/n2 shop002/n1 shop003/n2, true, yes, shop001/n1"; strings.Join(seen, ", ") != want {
		t.Errorf("the page shows %q, want %q", strings.Join(seen, ", "), want)
	}
}

// A hundred who look at one page cost one look at a time, whoever they are.
func TestManyReadersShareOneLook(t *testing.T) {
	h := newHouse(t)
	m := newMoving(5)
	h.Watch.Fleet = m.picture
	var all []*listener
	for range 4 {
		v := h.entered()
		for range 25 {
			l, _ := listen(t, v, "/fleet")
			all = append(all, l)
		}
	}
	for _, l := range all {
		l.hear(t, "part", "shop000/n1")
	}
	began, before := time.Now(), m.looks.Load()
	m.change(func(all []watch.Instance) { all[0].Throughput = ptr(77) })
	for _, l := range all {
		l.hear(t, "part", "77.0/s")
	}
	if looks, most := m.looks.Load()-before, int64(time.Since(began)/lookEvery)+2; looks > most {
		t.Errorf("until all of them saw the change there were %d looks, at most %d", looks, most)
	}
	if streams := h.live.streams; streams != 100 {
		t.Errorf("%d streams", streams)
	}
	ann, eve := viewer{person: access.Person{Name: "ann", Role: access.View}}, viewer{person: access.Person{Name: "eve", Role: access.View}}
	fleet, approve := &url.URL{Path: "/fleet"}, &url.URL{Path: "/runs/one/approve"}
	if ann.key(fleet) != eve.key(fleet) || ann.key(approve) == eve.key(approve) {
		t.Error("two persons share an approval, or do not share the fleet")
	}
	if eve.person.Role = access.Approve; ann.key(fleet) == eve.key(fleet) {
		t.Error("two persons with different rights share what they see")
	}
}

// doing is what goes on from one look to the next while a trial runs: what it is doing, and how far it is.
var doing = regexp.MustCompile(`</h3><p>[^<]*</p>|<progress.*?</span>`)

// What two persons with the same rights are sent of a page while they look at it is the same, but for an approval.
func TestPersonsWithTheSameRightsAreShownTheSame(t *testing.T) {
	h := newHouse(t)
	pages := scene(t, h)
	for h.running.now().Look.Trial == "" { // until then the page names its file
		if !rest(t.Context(), time.Millisecond) {
			t.Fatal("the trial does not begin")
		}
	}
	for name, path := range pages {
		u, err := url.Parse(path)
		if err != nil || name == "trial" || name == "result" || name == "compare" || name == "trouble" || name == "enter" {
			continue // what nobody is kept up to date of, and the trial whose clock goes on
		}
		var seen []string
		for _, person := range []access.Person{{Name: "ann@test", Role: access.Operate, Method: access.ByPassword}, {Name: "eve", Role: access.Operate, Method: access.ByToken}} {
			parts, err := h.partsOf(t.Context(), u, viewer{person: person, language: "en"})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text := ""
			for _, id := range document.SortedKeys(parts) {
				switch still := withoutClocks(parts[id]); id {
				case "curves": // they end now
				case "running":
					text += id + doing.ReplaceAllString(still, "")
				default:
					text += id + still
				}
			}
			seen = append(seen, text)
		}
		if seen[0] != seen[1] && name != "approve" {
			t.Errorf("%s differs from person to person", name)
		}
	}
}

// spoil makes entries of a run's journal unreadable, from one number to another.
func spoil(t *testing.T, h *house, from, to int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.state, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it was committed
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "PRAGMA busy_timeout = 10000"); err != nil {
		t.Fatal(err)
	}
	done, err := db.ExecContext(t.Context(), `UPDATE operation_outputs SET output = 'spoilt' WHERE function_name = 'entry' AND rowid IN (SELECT rowid FROM operation_outputs WHERE function_name = 'entry' ORDER BY rowid LIMIT ? OFFSET ?)`, to-from+1, from-1)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n != int64(to-from+1) {
		t.Fatalf("%d entries were spoilt, %v", n, err)
	}
}

// However long a run's journal has become, a look reads what is new of it and no more.
func TestAJournalIsReadOnce(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks", "orders")
	plan := h.await(run, "asking").Header.Plan.Hash
	if page := v.get("/runs/" + run); page.status != http.StatusOK {
		t.Fatalf("the run is answered %d", page.status)
	}
	read := h.states.of(run).state.Events
	spoil(t, h, 2, read-1)
	page := v.get("/runs/" + run).body
	if !strings.Contains(page, "needs approval") {
		t.Fatalf("once it was read the page reads it again")
	}
	v.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders")
	end := time.Now().Add(20 * time.Second)
	for !strings.Contains(page, "s-done") || !strings.Contains(page[:strings.Index(page, `id="steps"`)], "s-done") {
		if page = v.get("/runs/" + run).body; time.Now().After(end) {
			t.Fatalf("the page does not show what came after: %s", page)
		}
	}
	if st := h.states.of(run).state; st.Outcome != journal.RunDone || st.Events <= read {
		t.Errorf("the run is %q after %d entries", st.Outcome, st.Events)
	}
}

// A log is searched from its end, so far for one page, and the next goes on from there.
func TestALogIsSearchedPartByPart(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/fails", "orders")
	total := h.await(run, "failed").Events
	p := journalPage{Run: run, Search: "valued first"} // which its third entry is alone
	for pages := 1; ; pages++ {
		if err := (runHandlers{h.Server}).search(t.Context(), &p, 2); err != nil {
			t.Fatal(err)
		}
		if len(p.Events) > 0 {
			if p.Events[0].Number != 3 || pages != (total-1)/2 {
				t.Errorf("entry %d is found on page %d of a journal of %d", p.Events[0].Number, pages, total)
			}
			break
		}
		if p.Back != total-2*pages+1 || p.Older != fmt.Sprintf("/runs/%s/log?before=%d&search=valued+first", run, p.Back) {
			t.Fatalf("page %d came back to %d of %d, and goes on at %s", pages, p.Back, total, p.Older)
		}
		shown := httptest.NewRecorder()
		h.show(shown, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), http.StatusOK, "log", p)
		if text := shown.Body.String(); strings.Contains(text, "No log entry matches") || !strings.Contains(text, fmt.Sprintf("Searched back to entry %d;", p.Back)) {
			t.Fatalf("page %d says of a search that goes on: %s", pages, text)
		}
		p = journalPage{Run: run, Search: p.Search, Before: p.Back}
	}
	if a := v.get("/runs/" + run + "/log?before=4"); !strings.Contains(a.body, `id="e3"`) || strings.Contains(a.body, `id="e4"`) || strings.Contains(a.body, ">Older<") {
		t.Errorf("the log before entry 4: %s", a.body)
	}
}

// A style sheet that the browser has already is not compressed again; compressed or not, it is the same.
func TestAStyleSheetIsAskedForOnce(t *testing.T) {
	v := newHouse(t).visitor()
	packed, plain := v.get("/assets/page.css", "Accept-Encoding", "gzip"), v.get("/assets/page.css", "Accept-Encoding", "identity")
	tag := packed.header.Get("ETag")
	if packed.header.Get("Content-Encoding") != "gzip" || plain.header.Get("Content-Encoding") != "" || !strings.HasPrefix(tag, "W/") || plain.header.Get("ETag") != tag {
		t.Errorf("it is sent with %v, and uncompressed with %v", packed.header, plain.header)
	}
	again := v.get("/assets/page.css", "Accept-Encoding", "gzip", "If-None-Match", tag)
	if again.status != http.StatusNotModified || again.header.Get("Content-Encoding") != "" || again.header.Get("Vary") != "Accept-Encoding" || again.body != "" {
		t.Errorf("to a browser that has it the answer is %d with %v", again.status, again.header)
	}
}
