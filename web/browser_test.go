package web

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/browser"
	"plimsoll/report/reporttest"
	"plimsoll/runbook/journal"
)

// looks are the ways in which every page is looked at.
var looks = map[string]browser.Look{
	"390":       {Width: 390, Height: 800, Phone: true},
	"390-dark":  {Width: 390, Height: 800, Phone: true, Dark: true},
	"768":       {Width: 768, Height: 1000},
	"768-dark":  {Width: 768, Height: 1000, Dark: true},
	"1440":      {Width: 1440, Height: 900},
	"1440-dark": {Width: 1440, Height: 900, Dark: true},
	"no-script": {Width: 1440, Height: 900, NoScripts: true},
}

// picturesOnly are looks in which nothing can be other than in the rest of them: in the dark only colours differ. They are for people who ask for pictures.
var picturesOnly = []string{"390-dark", "768-dark"}

// judged is what axe-core looks for in a look, where time is short. Wide, narrow and without scripts a page has other things on it.
var judged = map[string]axeRules{"390": everyRule, "768": rulesOfLayout, "1440": everyRule, "1440-dark": rulesOfColour, "no-script": everyRule}

// everyLook has each look gone through and judged by all rules of axe-core, as make soak does.
var everyLook = os.Getenv("PLIMSOLL_SOAK") != ""

// rulesOf is what axe-core looks for in a look.
func rulesOf(kind string) axeRules {
	if everyLook {
		return everyRule
	}
	return judged[kind]
}

// gone tells whether a look is gone through: all are where pictures are asked for.
func gone(kind string) bool {
	return everyLook || browser.Pictures() != "" || !slices.Contains(picturesOnly, kind)
}

// wider lists what reaches out of a window of that width and does not scroll by itself.
const wider = `(width => document.documentElement.scrollWidth <= width ? [] :
  [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1 && !e.closest(".scroll, pre, .shell nav")).map(e => e.tagName + "." + e.className).slice(0, 5).concat("page " + document.documentElement.scrollWidth))(%d)`

// scrolled lists the tables of which a part is shown, although each row of them should be a card in a narrow window, those of a trial that runs among them.
const scrolled = `[...document.querySelectorAll(innerWidth > 700 ? ".scroll:has(.fleet)" : ".scroll:has(.stack), #trial .scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel + " " + e.scrollWidth)`

// The budget of a page without curves.
const (
	mostBytes    = 60_000 // of all that is sent for it, uncompressed
	mostRequests = 6      // its stream among them
)

// heavy are pages with curves, which bring uPlot, and the report that a trial leaves.
var heavy = []string{"instance", "alert", "result", "compare"}

// enters makes the browser somebody who has entered.
func enters(t testing.TB, h *house, b *browser.Browser) {
	t.Helper()
	l := looks["1440"]
	b.Open(h.url+"/enter?code="+h.Gate.Code(), l)
	b.Eval(`document.querySelector("form.fields").submit()`, nil)
	b.Loaded(l)
	var path string
	if b.Eval("location.pathname", &path); path != "/" {
		t.Fatalf("having entered, the browser is at %s", path)
	}
}

// scene is a state folder with something of everything; pages are the addresses to look at.
func scene(t testing.TB, h *house) map[string]string {
	t.Helper()
	v := h.entered()
	h.await(v.begin("test/quick", "orders"), "done")
	failed := v.begin("test/fails", "billing")
	h.await(failed, "failed")
	asking := v.begin("test/asks", "orders")
	h.await(asking, "asking")
	h.keep("timeline/1", reporttest.Timeline())
	h.keep("comparison/1", reporttest.Comparison())
	v.post("/trials", "file", "examples/demo/trial.yaml", "quick", "yes")
	return map[string]string{
		"fleet": "/fleet", "instance": "/fleet/orders/n1", "alerts": "/alerts", "alert": h.Watch.picture().Alerts[0].Page(), "advice": "/advice", "advised": "/advice/orders",
		"trials": "/trials", "trial": "/trials/live", "result": "/trials/result/timeline/1", "compare": "/trials/compare?a=timeline/1&b=timeline/1",
		"now": "/", "runs": "/runs", "failed": "/runs/" + failed, "asking": "/runs/" + asking, "approve": "/runs/" + asking + "/approve",
		"log": "/runs/" + failed + "/log", "enter": "/enter", "runbooks": "/runbooks", "runbook": "/runbooks/test/asks", "trouble": "/nothing",
	}
}

func TestBrowserShowsEveryPage(t *testing.T) {
	b := browser.New(t)
	source := axe(t)
	h := newHouse(t)
	pages := scene(t, h)
	enters(t, h, b)
	for name, path := range pages {
		for kind, l := range looks {
			if !gone(kind) {
				continue
			}
			b.Open(h.url+path, l)
			b.Picture(name + "-" + kind)
			for _, c := range b.Complaints(h.url+"/", "data:") {
				if !strings.Contains(c, "404") || name != "trouble" {
					t.Errorf("%s, %s: %s", name, kind, c)
				}
			}
			if l.NoScripts {
				b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
			}
			var wide, cut, other []string
			if b.Eval(fmt.Sprintf(wider, l.Width), &wide); len(wide) > 0 {
				t.Errorf("%s, %s: wider than the window: %v", name, kind, wide)
			}
			if b.Eval(themes, &other); len(other) > 0 {
				t.Errorf("%s: in the dark more differs than its colours, or by width they do: %q", name, other)
			}
			if b.Eval(scrolled, &cut); len(cut) > 0 {
				t.Errorf("%s, %s: shows a part of %v", name, kind, cut)
			}
			for _, barrier := range barriers(t, b, source, rulesOf(kind)) {
				t.Errorf("%s, %s: %s", name, kind, barrier)
			}
		}
	}
}

// On a phone no table of a running trial is cut off, and the text of a curve that the server drew can be read.
func TestBrowserCutsNothingOnAPhone(t *testing.T) {
	b := browser.New(t)
	source := axe(t)
	h := newHouse(t)
	v := h.entered()
	v.post("/trials", "file", "examples/demo/trial.yaml", "quick", "yes")
	enters(t, h, b)
	plain := browser.Look{Width: 390, Height: 800, Phone: true, NoScripts: true}
	for path, look := range map[string]string{"/trials/live": "#trial .scroll table", "/fleet/orders/n1": "figure.wide svg.chart text", h.Watch.picture().Alerts[0].Page(): "figure.wide svg.chart text"} {
		b.Open(h.url+path, plain)
		b.Picture("phone" + strings.ReplaceAll(path, "/", "-"))
		b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
		var some int
		if b.Eval(fmt.Sprintf("document.querySelectorAll(%q).length", look), &some); some == 0 {
			t.Errorf("%s shows no %s", path, look)
		}
		var wide, cut []string
		if b.Eval(fmt.Sprintf(wider, plain.Width), &wide); len(wide) > 0 {
			t.Errorf("%s is wider than the window: %v", path, wide)
		}
		if b.Eval(scrolled, &cut); len(cut) > 0 {
			t.Errorf("%s shows a part of %v", path, cut)
		}
		// Of a picture that is wider than the window the newest end is seen, not the oldest.
		var hidden []float64
		if b.Eval(`[...document.querySelectorAll("figure.wide svg.chart")].map(e => e.getBoundingClientRect().right - e.closest("figure").getBoundingClientRect().right).filter(past => past > 1)`, &hidden); len(hidden) > 0 {
			t.Errorf("%s: the last %.0f px of a picture are scrolled away", path, hidden[0])
		}
		var small []float64
		if b.Eval(`[...document.querySelectorAll("figure.wide svg.chart text")].map(e => e.getBoundingClientRect().height).filter(h => h > 0 && h < 7)`, &small); len(small) > 0 {
			t.Errorf("%s: the text of a picture is %.1f px high", path, small[0])
		}
		var past []string
		if b.Eval(`[...document.querySelectorAll("svg.chart text.name")].filter(e => e.getBBox().x + e.getBBox().width > e.ownerSVGElement.viewBox.baseVal.width).map(e => e.textContent)`, &past); len(past) > 0 {
			t.Errorf("%s: names of lines are cut off: %q", path, past)
		}
		for _, barrier := range barriers(t, b, source, rulesOfLayout) { // what scrolls is to be scrolled with keys too
			t.Errorf("%s: %s", path, barrier)
		}
	}
	// On the narrowest screen no name of a setting reaches out of the card of its alert, or widens what stands in it.
	b.Open(h.url+"/alerts", browser.Look{Width: 320, Height: 640, Phone: true})
	var out []string
	if b.Eval(`[...document.querySelectorAll(".alert *")].filter(e => { const card = e.closest(".alert"); return e.getBoundingClientRect().right > card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight) + 1; }).map(e => e.tagName + " " + e.textContent.slice(0, 60))`, &out); len(out) > 0 {
		t.Errorf("they reach out of their alert: %q", out)
	}
}

// A page is few requests and few bytes, so that it is there at once over a slow line too.
func TestBrowserAsksForLittle(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	pages := scene(t, h)
	enters(t, h, b)
	b.Do("Network.setCacheDisabled", map[string]any{"cacheDisabled": true}, nil)
	for name, path := range pages {
		b.Open(h.url+path, looks["1440"])
		requests, bytes := b.Traffic()
		t.Logf("%s: %d requests, %d bytes", name, requests, bytes)
		if !slices.Contains(heavy, name) && (requests > mostRequests || bytes > mostBytes) {
			t.Errorf("%s: %d requests, %d bytes; at most %d and %d", name, requests, bytes, mostRequests, mostBytes)
		}
	}
}

// With JavaScript off, a person plans, begins, approves and sees the end.
func TestBrowserApprovesWithoutScripts(t *testing.T) {
	inEveryLook(t, func(t *testing.T, l browser.Look) {
		l.NoScripts = true
		approvesWithoutScripts(t, l)
	})
}

// inEveryLook does what a person does at each width, and in the dark.
func inEveryLook(t *testing.T, flow func(t *testing.T, l browser.Look)) {
	t.Helper()
	for kind, l := range looks {
		if !l.NoScripts && gone(kind) {
			t.Run(kind, func(t *testing.T) { flow(t, l) })
		}
	}
}

// press presses a button or follows a link by what stands on it, by a real click: where the page's own scripts are off, the test finds
// the place and the browser presses there. It waits for the page that comes.
func press(t testing.TB, b *browser.Browser, l browser.Look, what string) {
	t.Helper()
	pressIn(t, b, l, "main", what)
}

// pressIn presses what is in a part of the page.
func pressIn(t testing.TB, b *browser.Browser, l browser.Look, part, what string) {
	t.Helper()
	b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	var at struct{ X, Y float64 }
	text, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	b.Eval(fmt.Sprintf(`((part, text) => { const e = [...document.querySelector(part).querySelectorAll("button, a, summary")].find(e => e.textContent.trim() === text && e.checkVisibility()); if (!e) throw new Error("no " + text + " on " + document.body.innerText.slice(0, 400));
	  e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })(%q, %s)`, part, text), &at)
	b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": l.NoScripts}, nil)
	b.Press(at.X, at.Y)
	b.Loaded(l)
}

func approvesWithoutScripts(t *testing.T, l browser.Look) {
	b := browser.New(t)
	h := newHouse(t)
	enters(t, h, b)
	press := func(what string) {
		t.Helper()
		press(t, b, l, what)
	}
	b.Open(h.url+"/runbooks/test/asks?cluster=orders", l)
	press("Plan")
	b.Picture("flow-plan")
	press("Begin the run")
	runs, err := h.Runs.Store.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	h.await(runs[0].ID, "asking")
	b.Open(h.url+"/", l)
	press("Look and answer")
	b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.Eval(`document.querySelector("[name=cluster]").value = "orders"`, nil)
	press("Approve")
	h.await(runs[0].ID, "done")
	if !h.has("removed") {
		t.Error("it was approved, and not done")
	}
	h.write("word", "hello\n") // what the next runbook writes
	b.Open(h.url+"/runbooks/test/quick?cluster=orders", l)
	press("Plan")
	b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	var buttons []string
	b.Eval(`[...document.querySelectorAll("main .acts button")].map(e => e.className + ":" + e.textContent.trim())`, &buttons)
	if !slices.Equal(buttons, []string{":Begin a run that only checks"}) {
		t.Errorf("where there is nothing to do, the page offers %q", buttons)
	}
}

// What happens is shown without a reload, and what a person was writing stays.
func TestBrowserFollowsARun(t *testing.T) { inEveryLook(t, followsARun) }

func followsARun(t *testing.T, l browser.Look) {
	b := browser.New(t)
	h := newHouse(t)
	run := h.entered().begin("test/asks", "orders")
	h.await(run, "asking")
	enters(t, h, b)
	b.Open(h.url+"/runs/"+run, l)
	b.Eval(`(async () => { for (let n = 0; n < 100 && !document.querySelector(".live.is-live"); n++) await new Promise(done => setTimeout(done, 50)); })()`, nil)
	plan := h.await(run, "asking").Header.Plan.Hash
	h.entered().post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders")
	h.await(run, "done")
	var state, badge string
	b.Eval(`(async () => { for (let n = 0; n < 100; n++) { const s = document.querySelector(".big .state").textContent; if (s === "done") return s; await new Promise(done => setTimeout(done, 50)); } return document.querySelector(".big").textContent; })()`, &state)
	b.Eval(`document.querySelector(".live").textContent`, &badge)
	if state != "done" || badge != "live" {
		t.Errorf("the page says %q, %q", state, badge)
	}
	for _, c := range b.Complaints(h.url+"/", "data:") {
		t.Error(c)
	}
}

// What a person is writing survives what happens meanwhile.
func TestBrowserKeepsWhatIsWritten(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	run := h.entered().begin("test/fails", "orders")
	h.await(run, "failed")
	enters(t, h, b)
	b.Open(h.url+"/runs/"+run, looks["1440"])
	b.Eval(`document.querySelector(".act").open = true; const f = document.querySelector("#acts [name=reason]"); f.value = "still writing"; f.focus()`, nil)
	h.entered().post("/runs/"+run+"/rerun", "step", "second", "reason", "again")
	h.awaitThat(run, func(st *journal.State) bool { return len(st.Orders) == 2 && st.Status() == "failed" })
	var kept []string
	b.Eval(`(async () => { for (let n = 0; n < 100 && document.querySelectorAll("#events tr").length < 12; n++) await new Promise(done => setTimeout(done, 50));
	  const f = document.querySelector("#acts [name=reason]"); return [f.value, String(document.activeElement === f), String(document.querySelector(".act").open)]; })()`, &kept)
	if strings.Join(kept, ", ") != "still writing, true, true" {
		t.Errorf("written, focused, open: %v", kept)
	}
}

// Dragging over a curve shows that period, everywhere on the page: its statements and accounts, and not those of now. Another click goes back to a
// wider one.
func TestBrowserZoomsIntoACurve(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	enters(t, h, b)
	l := looks["1440"]
	b.Open(h.url+"/fleet/orders/n1?span=1h", l)
	whose := func() (now, then int) {
		t.Helper()
		var text string
		b.Eval(`document.getElementById("detail").textContent`, &text)
		return strings.Count(text, "UPDATE stock SET quantity") + strings.Count(text, "report@10.0.4.1"), strings.Count(text, "DELETE FROM carts") + strings.Count(text, "janitor@10.0.9.9")
	}
	if now, then := whose(); now != 2 || then != 0 {
		t.Errorf("before the drag there are %d of now and %d of then", now, then)
	}
	var at struct{ X, Y, Width float64 }
	b.Eval(`(async () => { for (let n = 0; n < 100 && document.querySelectorAll("[data-drawn] .u-over").length < 5; n++) await new Promise(done => setTimeout(done, 50));
	  const over = document.querySelector("figure.wide .u-over"); over.scrollIntoView({block: "center"}); const r = over.getBoundingClientRect(); return {X: r.x, Y: r.y + r.height / 2, Width: r.width}; })()`, &at)
	mouse := func(kind string, x float64) {
		b.Do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": at.Y, "button": "left", "buttons": 1, "clickCount": 1}, nil)
	}
	mouse("mouseMoved", at.X+at.Width/2)
	var legend string
	if b.Eval(`document.querySelector("figure.wide .u-legend").textContent`, &legend); !strings.Contains(legend, "row lock") || !regexp.MustCompile(`\d\d:\d\d:\d\d`).MatchString(legend) {
		t.Errorf("under the cursor stands %q", legend)
	}
	mouse("mousePressed", at.X+at.Width/2)
	mouse("mouseMoved", at.X+0.6*at.Width)
	mouse("mouseMoved", at.X+0.75*at.Width)
	mouse("mouseReleased", at.X+0.75*at.Width)
	b.Loaded(l)
	var query string
	b.Eval("location.search", &query)
	var from, to int64
	if n, _ := fmt.Sscanf(query, "?from=%d&to=%d", &from, &to); n != 2 || to-from < 890 || to-from > 912 { // a quarter of an hour
		t.Fatalf("the address is %s", query)
	}
	b.Picture("instance-zoomed")
	if now, then := whose(); now != 0 || then != 2 {
		t.Errorf("after the drag there are %d of now and %d of then", now, then)
	}
	var wider string
	if b.Eval(`document.querySelector("a.wider").search`, &wider); !strings.HasPrefix(wider, "?span=1h&to=") {
		t.Errorf("wider leads to %s", wider)
	}
	for _, c := range b.Complaints(h.url+"/", "data:") {
		t.Error(c)
	}
}
