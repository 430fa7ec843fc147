package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/browser"
	"plimsoll/result"
)

// The sizes that the page is looked at in.
var (
	desktop = browser.Look{Width: 1280, Height: 900}
	dark    = browser.Look{Width: 1280, Height: 900, Dark: true}
	phone   = browser.Look{Width: 360, Height: 740, Phone: true}
	plain   = browser.Look{Width: 1280, Height: 900, NoScripts: true}
)

// drawAll brings every figure near, so that all are drawn; openAll opens what is closed before.
const openAll = `document.querySelectorAll("details").forEach(d => d.open = true)`
const drawAll = `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  for (const f of document.querySelectorAll(".chart-figure")) { f.scrollIntoView(); await frame(); await frame(); }
  scrollTo(0, 0);
})()`

// undrawn lists the figures without a picture of at least four colours: axis, grid, line and paper.
const undrawn = `[...document.querySelectorAll(".chart-figure")].filter(f => {
  const c = f.querySelector(".plot canvas");
  if (!c || !c.width || !c.height) return true;
  const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
  for (let i = 0; i < p.length; i += 4) seen.add(p[i] << 24 | p[i+1] << 16 | p[i+2] << 8 | p[i+3]);
  return seen.size < 4;
}).map(f => f.id)`

// wider lists what reaches out of a window of that width and does not scroll by itself. A phone's own innerWidth grows
// with what does not fit.
const wider = `(width => document.documentElement.scrollWidth <= width ? [] :
  [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1 && !e.closest(".scroll, .static, pre")).map(e => e.tagName + "." + e.className).slice(0, 5).concat("page " + document.documentElement.scrollWidth))(%d)`

func TestBrowserDrawsThePage(t *testing.T) {
	b := browser.New(t)
	pages := samples()
	pages["hostile"] = hostile()
	for name, r := range pages {
		file := writePage(t, r)
		for kind, l := range map[string]browser.Look{"desktop": desktop, "dark": dark, "phone": phone} {
			b.Open("file://"+file, l)
			b.Eval(drawAll, nil)
			b.Picture(name + "-" + kind)
			b.Eval(openAll, nil)
			b.Eval(drawAll, nil)
			var missing, wide []string
			b.Eval(undrawn, &missing)
			if len(missing) > 0 {
				t.Errorf("%s, %s: nothing is drawn in %v", name, kind, missing)
			}
			b.Eval(fmt.Sprintf(wider, l.Width), &wide)
			if len(wide) > 0 {
				t.Errorf("%s, %s: wider than the window: %v", name, kind, wide)
			}
			var pwned bool
			b.Eval("!!window.pwned || !!document.querySelector('img')", &pwned)
			if pwned {
				t.Errorf("%s: a name was run as markup", name)
			}
			for _, c := range b.Complaints("file://", "data:") {
				t.Errorf("%s, %s: %s", name, kind, c)
			}
		}
	}
}

// The narrowest telephones have 320 pixels: no verdict's word reaches out of them.
func TestBrowserFitsTheNarrowestWindow(t *testing.T) {
	b := browser.New(t)
	for name, r := range samples() {
		b.Open("file://"+writePage(t, r), browser.Look{Width: 320, Height: 640, Phone: true})
		b.Eval(openAll, nil)
		var wide []string
		if b.Eval(fmt.Sprintf(wider, 320), &wide); len(wide) > 0 {
			t.Errorf("%s: wider than the window: %v", name, wide)
		}
	}
}

func TestBrowserColours(t *testing.T) {
	b := browser.New(t)
	file := writePage(t, samples()["comparison"])
	for name, c := range map[string]struct {
		look   browser.Look
		bright bool
	}{"light": {desktop, true}, "dark": {dark, false}} {
		b.Open("file://"+file, c.look)
		b.Eval(openAll, nil)
		b.Eval(drawAll, nil)
		var bright bool
		b.Eval(`getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every(v => v > 200)`, &bright)
		if bright != c.bright {
			t.Errorf("%s: the paper is bright: %v", name, bright)
		}
		// Contrast of text on paper, WCAG 2.1: 4.5 for text.
		var poor []string
		b.Eval(`(() => {
		  const light = c => { const v = c.match(/[\d.]+/g).slice(0, 3).map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; }); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
		  const paper = light(getComputedStyle(document.body).backgroundColor);
		  return [...document.querySelectorAll(".meaning, .answer span, .chip, .key, .expect, h1, h2, td .value, .spread, .change, .reason, summary, dt")].filter(e => {
		    const ink = light(getComputedStyle(e).color), ratio = (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05);
		    return ratio < 4.5;
		  }).map(e => e.className || e.tagName);
		})()`, &poor)
		if len(poor) > 0 {
			t.Errorf("%s: too little contrast in %v", name, poor)
		}
	}
}

func TestBrowserControls(t *testing.T) {
	b := browser.New(t)
	b.Open("file://"+writePage(t, samples()["timeline"]), desktop)
	b.Eval(drawAll, nil)
	picture := func() (s string) {
		b.Eval(`document.querySelector("#run0-latency canvas").toDataURL()`, &s)
		return s
	}
	p99 := picture()
	b.Eval(`document.querySelector("#run0-latency [data-view='0']").click()`, nil)
	p50 := picture()
	if p50 == p99 {
		t.Error("p50 looks like p99")
	}
	var pressed []string
	b.Eval(`[...document.querySelectorAll("#run0-latency [aria-pressed=true]")].map(e => e.textContent)`, &pressed)
	if strings.Join(pressed, " ") != "p50 log" {
		t.Errorf("pressed are %v", pressed)
	}
	b.Eval(`document.querySelector("#run0-latency button.log").click()`, nil)
	if picture() == p50 {
		t.Error("the log axis changed nothing")
	}
	// The keyboard moves the cursor of all pictures over the same time, and the legend says what is there.
	var legends []string
	b.Eval(`(async () => {
	  const plot = document.querySelector("#run0-latency .plot");
	  plot.focus();
	  for (const key of ["Home", "ArrowRight", "ArrowRight"]) plot.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
	  await new Promise(requestAnimationFrame);
	  return ["run0-latency", "run0-throughput"].map(id => document.querySelector("#" + id + " .u-legend").textContent);
	})()`, &legends)
	for _, l := range legends {
		if !strings.Contains(l, "0:02") || !strings.ContainsAny(l, "0123456789") {
			t.Errorf("the legends at the third second: %q", legends)
		}
	}
	var redrawn bool
	before := picture()
	b.Do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	b.Eval(`new Promise(done => setTimeout(done, 100))`, nil)
	if redrawn = picture() != before; !redrawn {
		t.Error("the pictures keep their colours when the page turns dark")
	}
	for _, c := range b.Complaints("file://", "data:") {
		t.Error(c)
	}
}

func TestBrowserWithoutScripts(t *testing.T) {
	b := browser.New(t)
	for name, r := range samples() {
		b.Open("file://"+writePage(t, r), plain)
		b.Picture(name + "-noscript")
		b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
		var bad []string
		b.Eval(`[...document.querySelectorAll(".chart-figure")].filter(f => !f.closest("details:not([open])")).filter(f =>
		  !f.querySelector("svg.chart").getBoundingClientRect().height || f.querySelector(".plot").offsetHeight || (f.querySelector(".controls") || {}).offsetHeight).map(f => f.id)`, &bad)
		if len(bad) > 0 {
			t.Errorf("%s: without scripts these show no picture, or controls that do nothing: %v", name, bad)
		}
	}
}

func TestBrowserPrints(t *testing.T) {
	b := browser.New(t)
	for name, r := range samples() {
		b.Open("file://"+writePage(t, r), dark)
		b.Eval(drawAll, nil)
		b.Picture(name + ".pdf")
		b.Do("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
		var bad []string
		b.Eval(`[...document.querySelectorAll(".plot, .controls, nav")].filter(e => e.offsetHeight).map(e => e.className)
		  .concat([...document.querySelectorAll(".chart-figure svg.chart")].filter(e => !e.closest("details:not([open])") && !e.getBoundingClientRect().height).map(e => e.closest("figure").id))
		  .concat(getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)" ? [] : ["paper"])`, &bad)
		if len(bad) > 0 {
			t.Errorf("%s: printed wrongly: %v", name, bad)
		}
	}
}

func writePage(t *testing.T, r *result.Result) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(render(t, r)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
