package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/browser"
	"plimsoll/report/reporttest"
	"plimsoll/runbook/journal"
)

// person is somebody at a browser who looks in one way.
type person struct {
	t     testing.TB
	b     *browser.Browser
	h     *house
	l     browser.Look
	kind  string // of look
	axe   string
	knows string // a complaint of the browser that the page is meant to cause; "": none
}

// open goes to a page.
func (p person) open(path string) {
	p.t.Helper()
	p.b.Open(p.h.url+path, p.l)
}

// fill writes into a field that can be seen.
func (p person) fill(field, text string) {
	p.t.Helper()
	p.b.Eval(fmt.Sprintf(`(() => { const f = [...document.querySelectorAll("main " + %q)].find(f => f.checkVisibility()); f.focus(); })()`, field), nil)
	p.b.Do("Input.insertText", map[string]any{"text": text}, nil)
}

func (p person) press(what string) {
	p.t.Helper()
	press(p.t, p.b, p.l, what)
}

// chooses takes one of what a list offers.
func (p person) chooses(field, value string) {
	p.t.Helper()
	p.b.Eval(fmt.Sprintf(`((field, value) => { const f = document.querySelector("main " + field); f.value = value; if (f.value !== value) throw new Error(field + " does not offer " + value); f.dispatchEvent(new Event("change", {bubbles: true})); })(%q, %q)`, field, value), nil)
}

// path is where the browser is.
func (p person) path() (path string) {
	p.t.Helper()
	p.b.Eval("location.pathname", &path)
	return path
}

// value is what stands in a field.
func (p person) value(field string) (text string) {
	p.t.Helper()
	p.b.Eval(fmt.Sprintf(`document.querySelector("main " + %q).value`, field), &text)
	return text
}

// isAt tells whether the browser is at a page.
func (p person) isAt(want string) {
	p.t.Helper()
	if at := p.path(); at != want {
		p.t.Errorf("%s: the browser is at %s, expected %s", p.kind, at, want)
	}
}

// texts are those of all that a selector finds.
func (p person) texts(selector string) (all []string) {
	p.t.Helper()
	p.b.Eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.textContent.trim())`, selector), &all)
	return all
}

// unfold opens what is folded under a heading; nothing is loaded for it.
func (p person) unfold(what string) {
	p.t.Helper()
	p.b.Eval(fmt.Sprintf(`[...document.querySelectorAll("main summary")].find(e => e.textContent.trim() === %q).click()`, what), nil)
}

// sees waits until an element shows a text, without a reload.
func (p person) sees(element, text string) {
	p.t.Helper()
	var seen string
	p.b.Eval(fmt.Sprintf(`(async (element, text) => { let s; for (let n = 0; n < 200; n++) { s = document.querySelector(element)?.textContent ?? ""; if (s.includes(text)) return s; await new Promise(done => setTimeout(done, 50)); } throw new Error(element + " says " + s + ", not " + text); })(%q, %q)`, element, text), &seen)
}

// judges looks at the page that is open as TestBrowserShowsEveryPage does at those at rest, light and dark.
func (p person) judges(what string) {
	p.t.Helper()
	for _, c := range p.b.Complaints(p.h.url+"/", "data:") {
		if p.knows == "" || !strings.Contains(c, p.knows) {
			p.t.Errorf("%s, %s: %s", what, p.kind, c)
		}
	}
	p.b.Eval(`scrollTo(0, 0)`, nil) // the bar covers a part of what was scrolled beneath it
	for _, dark := range []bool{false, true} {
		l, kind := p.l, p.kind
		if l.Dark = dark; dark {
			kind += "-dark"
		}
		if !gone(kind) {
			continue
		}
		p.b.Set(l)
		p.b.Picture("flow-" + what + "-" + kind)
		var wide []string
		if p.b.Eval(fmt.Sprintf(wider, l.Width), &wide); len(wide) > 0 {
			p.t.Errorf("%s, %s: wider than the window: %v", what, kind, wide)
		}
		for _, barrier := range barriers(p.t, p.b, p.axe, rulesOf(kind)) {
			p.t.Errorf("%s, %s: %s", what, kind, barrier)
		}
	}
	p.b.Set(p.l)
}

// inOneWindow does what a person does at each width, in one window and over one state folder.
func inOneWindow(t *testing.T, flow func(p person)) {
	t.Helper()
	p := person{t: t, b: browser.New(t), axe: axe(t), h: newHouse(t)}
	enters(t, p.h, p.b)
	p.atEachWidth(flow)
}

func (p person) atEachWidth(flow func(p person)) {
	for _, p.kind = range []string{"390", "768", "1440"} {
		p.l = looks[p.kind]
		flow(p)
	}
}

// A failed step is run again for a reason, and the run is cancelled with undo: what it did is taken back, and the page says each.
func TestBrowserRerunsAStepAndCancels(t *testing.T) {
	inOneWindow(t, func(p person) {
		h := p.h
		run := h.entered().begin("test/fails", "c"+p.kind)
		h.await(run, "failed")
		p.open("/runs/" + run)
		p.fill(`[name=reason]`, "the disk is there now")
		p.press("Run this step again")
		st := h.awaitThat(run, func(st *journal.State) bool { return len(st.Orders) == 2 && st.Status() == "failed" })
		if o := st.Orders[1]; o.Do != "rerun" || o.Step != "second" || o.Reason != "the disk is there now" || o.By != "ann@test" {
			p.t.Errorf("%s: the order is %+v", p.kind, o)
		}
		p.sees(".big .state", "failed")
		p.sees("#events", "step second again: the disk is there now")
		p.judges("rerun")
		p.open("/runs/" + run)
		p.unfold("Cancel…")
		p.fill(`.act [name=reason]`, "not today")
		p.press("Cancel the run")
		p.sees(".big .state", "undone")
		p.sees(".steps", "undone")
		p.judges("cancel")
		if h.await(run, "undone"); h.has("first") {
			p.t.Errorf("%s: what the run did was not taken back", p.kind)
		}
	})
}

// A person who is asked says no, for a reason: nothing is done, and the run stops.
func TestBrowserRejects(t *testing.T) {
	inOneWindow(t, func(p person) {
		h := p.h
		run := h.entered().begin("test/asks", "c"+p.kind)
		h.await(run, "asking")
		p.open("/")
		p.press("Look and answer")
		p.fill(`form[action$="/reject"] [name=reason]`, "not in the evening")
		p.press("Reject")
		p.sees(".big .state", "failed")
		p.sees("#run", "not in the evening")
		p.judges("reject")
		if h.await(run, "failed"); h.has("removed") {
			p.t.Errorf("%s: it was rejected, and done", p.kind)
		}
		h.entered().post("/runs/"+run+"/cancel", "undo", "yes")
		h.await(run, "undone")
	})
}

// A trial is begun and followed: what it measures comes without a reload, and when it is stopped the page leads to its result.
func TestBrowserFollowsATrial(t *testing.T) {
	inOneWindow(t, func(p person) {
		p.open("/trials")
		p.unfold("Begin a trial")
		p.press("Begin")
		p.sees("#trial h1", "Does it hold?")
		p.sees("#trial .figure", "op/s")
		p.sees("#trial [aria-current=step]", "baseline")
		p.sees("#trial .s-fit", "fit to measure")
		p.judges("trial")
		p.h.doubts <- []string{"operations started late although connections were free (p99 14.2 ms, allowed 1.0 ms: 5 % of the median response time of 5.2 ms, 1 ms at least; the p99 response time, which includes it, is 31.0 ms)"}
		p.sees("#trial .s-unfit", "not fit to measure")
		p.sees("#trial .doubts", "operations started late")
		p.judges("trial-doubted")
		p.press("Stop, and keep what was measured")
		p.sees("#trial .button", "See the result")
		p.judges("trial-stopped")
		p.press("See the result")
		p.sees("main", "What was expected, and what was found")
	})
}

// From a result the person comes to its comparison with another.
func TestBrowserComparesTwoResults(t *testing.T) {
	inOneWindow(t, func(p person) {
		p.h.keep("timeline/1", reporttest.Timeline())
		p.h.keep("timeline/2", reporttest.Timeline())
		p.h.keep("comparison/1", reporttest.Comparison())
		p.open("/trials/result/timeline/1")
		if first := p.value("[name=b]"); first != "timeline/2" { // of the same trial
			p.t.Errorf("%s: the first to compare with is %q", p.kind, first)
		}
		p.chooses("[name=b]", "comparison/1")
		p.press("Compare")
		p.isAt("/trials/compare")
		if sides := p.texts("main .pairs dd"); !slices.Equal(sides, []string{"timeline/1", "comparison/1"}) {
			p.t.Errorf("%s: compared are %q", p.kind, sides)
		}
		p.sees("main .report", "throughput")
		p.judges("compared")
	})
}

// Advice is asked for: what was typed is what is looked at, and why it came to nothing is shown without a reload.
func TestBrowserAsksForAdvice(t *testing.T) {
	inOneWindow(t, func(p person) {
		asked, answers := make(chan AskedAdvice, 1), make(chan error)
		p.h.looks.mu.Lock() // a look of the width before has ended
		p.h.looks.advice.Look = func(_ context.Context, ask AskedAdvice) error {
			asked <- ask
			return <-answers
		}
		p.h.looks.mu.Unlock()
		p.open("/advice")
		p.press("prod-orders")
		if len(p.texts(".act[open]")) == 0 {
			p.unfold("Observe it")
		}
		p.fill("[name=class]", "db.m5."+p.kind)
		p.fill("[name=volume]", "gp3:800GiB:12000")
		p.press("Observe")
		if ask := <-asked; ask != (AskedAdvice{"prod-orders", "db.m5." + p.kind, "gp3:800GiB:12000"}) {
			p.t.Errorf("%s: asked for %+v", p.kind, ask)
		}
		p.sees("#advised", "Being observed since")
		p.judges("observed")
		answers <- errors.New("no such class as db.m5." + p.kind)
		p.sees("#advised [role=alert]", "no such class as db.m5."+p.kind)
		p.judges("not-observed")
	})
}

// A picture that the server drew stays until the browser has drawn the curve over it.
func TestBrowserKeepsThePictureUntilTheCurveIsDrawn(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	enters(t, h, b)
	b.Do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `addEventListener("DOMContentLoaded", () => {
	  const curves = document.getElementById("curves");
	  globalThis.emptied = 0;
	  if (curves) new MutationObserver(() => { for (const p of curves.querySelectorAll(".plot")) if (!p.firstChild) globalThis.emptied++; }).observe(curves, {subtree: true, childList: true});
	})`}, nil)
	for _, path := range []string{"/fleet/orders/n1", h.Watch.picture().Alerts[0].Page()} {
		b.Open(h.url+path, looks["390"])
		var seen []int
		b.Eval(`(async () => { for (let n = 0; n < 200 && !(document.querySelector(".live.is-live") && document.querySelector("#curves canvas")); n++) await new Promise(done => setTimeout(done, 20));
		  return [globalThis.emptied, document.querySelectorAll("#curves canvas").length, document.querySelectorAll("#curves svg.chart").length]; })()`, &seen)
		if seen[0] != 0 || seen[1] == 0 || seen[2] != 0 {
			t.Errorf("%s: %d plots were empty meanwhile; %d curves are drawn, and %d pictures are left", path, seen[0], seen[1], seen[2])
		}
	}
}

// A state stands on the line of the text beside it, although its shape has no text.
func TestBrowserStatesStandOnTheLine(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	enters(t, h, b)
	for path, state := range map[string]string{"/advice/orders": "#advised h2 .state", h.Watch.picture().Alerts[0].Page(): "#alert .lead .state", "/fleet": ".fleet .n .state"} {
		for _, kind := range []string{"390", "1440"} {
			b.Open(h.url+path, looks[kind])
			var off []float64
			b.Eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => { const mark = () => { const m = document.createElement("i"); m.style.display = "inline-block"; return m; };
			  const inside = document.createElement("span"), within = mark(), beside = mark(); inside.append(within); e.append(inside); e.after(beside);
			  const off = within.getBoundingClientRect().bottom - beside.getBoundingClientRect().bottom; inside.remove(); beside.remove(); return off; })`, state), &off)
			if len(off) == 0 {
				t.Errorf("%s has no state", path)
			}
			for _, by := range off {
				if by < -0.75 || by > 0.75 {
					t.Errorf("%s, %s: a state stands %.1f px off its line", path, kind, by)
				}
			}
		}
	}
}
