package report

import (
	"fmt"
	"testing"

	"plimsoll/internal/browser"
	"plimsoll/report/reporttest"
	"plimsoll/result"
)

// compared is a comparison with all that one can have: signals by variant, settings that differ, curves.
func compared() *result.Result {
	r := reporttest.Comparison()
	for _, variant := range []string{"binlog row", "row + replica"} {
		r.Verdict.Signals = append(r.Verdict.Signals,
			signalDiffers("mysql.innodb_buffer_pool_miss_share", "share", variant, 0, 0.2, 0.01),
			signalDiffers("mysql.binlog_disk_use_bytes_per_second", "bytes_per_second", variant, 0, 12_345_678, 1_000_000),
			signalDiffers("mysql.threads_running", "", variant, 12, 12.4, 3))
	}
	return r
}

// noisy is a timeline on a busy machine: intervals are as wide as their values, and the service is not as before when it ends.
func noisy() *result.Result {
	r := reporttest.Timeline()
	for i := range r.Verdict.Phases {
		p := &r.Verdict.Phases[i]
		for n := range p.Figures {
			e := &p.Figures[n].Estimate
			e.Low, e.High = e.Value/10, 10*e.Value
		}
		if p.Impact == nil {
			continue
		}
		p.Impact.Depth.Low, p.Impact.Depth.High = 0.1, 10
		for n := range p.Impact.Spells {
			p.Impact.Spells[n].P99.AsBefore = false
		}
	}
	return r
}

// cutOff lists tables and curves of which something cannot be reached: what is wider than its place, where that does not scroll. In a
// wide window nothing needs to scroll.
const cutOff = `(width => [...document.querySelectorAll("table, svg, canvas")].filter(e => e.getBoundingClientRect().width > 0).filter(e => {
  const box = e.getBoundingClientRect(), scroll = e.closest(".scroll");
  if (scroll) {
    const s = scroll.getBoundingClientRect(), style = getComputedStyle(scroll).overflowX;
    return s.right > width + 1 || style !== "auto" && style !== "scroll" && scroll.scrollWidth > scroll.clientWidth + 1 || width >= 1280 && scroll.scrollWidth > scroll.clientWidth + 1;
  }
  return box.right > width + 1 || box.left < -1;
}).map(e => e.tagName + " " + (e.closest("section, details")?.querySelector("h2, summary")?.textContent || "") + " " + Math.round(e.getBoundingClientRect().width)))(%d)`

// unsaid lists tables that scroll and do not say so, and those that say so and do not.
const unsaid = `(async () => {
  await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll(".scroll")].filter(s => s.clientWidth > 0 &&
    (s.scrollWidth > s.clientWidth + 1) !== getComputedStyle(s, "::before").content.includes("scroll sideways")).map(s => s.getAttribute("aria-label"));
})()`

// hidden lists the tables of a narrow window of which something is past the edge, but for pictures, which are seen whole or not at all, and
// those with a cell that does not say what it is.
const hidden = `[...document.querySelectorAll(".scroll")].filter(s => s.clientWidth > 0 && !s.querySelector(".sparks") &&
  (s.scrollWidth > s.clientWidth + 1 || [...s.querySelectorAll("td")].some(d => d.textContent.trim() && (d.getBoundingClientRect().height === 0 || getComputedStyle(d, "::before").content.length < 3)))).map(s =>
  s.getAttribute("aria-label") + ": " + (s.querySelector("thead")?.textContent || ""))`

// longNames is a timeline whose changes have the longest names that ship, and in which throughput and p99 vary by more than they are.
func longNames() *result.Result {
	r := reporttest.Timeline()
	name := map[string]string{"lab/freeze": "superdisk/emergency-start", "lab/restart": "superdisk/reattach-network"}
	for i, p := range r.Verdict.Phases {
		if long, ok := name[p.Name]; ok {
			r.Verdict.Phases[i].Name = long
		}
	}
	for i, s := range r.Seconds {
		if long, ok := name[s.Phase]; ok {
			r.Seconds[i].Phase = long
		}
	}
	for i, e := range r.Events {
		if long, ok := name[e.Name]; ok {
			r.Events[i].Name = long
		}
	}
	return r
}

// On a phone and on a screen no table and no curve is cut.
func TestBrowserCutsNothing(t *testing.T) {
	b := browser.New(t)
	for name, r := range map[string]*result.Result{"comparison": compared(), "timeline": reporttest.Timeline(), "noise": noisy(), "settings": reporttest.Settings(), "long names": longNames()} {
		file := writePage(t, r)
		for _, l := range []browser.Look{{Width: 390, Height: 844, Phone: true}, {Width: 1280, Height: 900}} {
			b.Open("file://"+file, l)
			b.Eval(openAll, nil)
			b.Eval(drawAll, nil)
			b.Picture(fmt.Sprintf("%s-%d", name, l.Width))
			var cut, wide, scrolls []string
			b.Eval(fmt.Sprintf(cutOff, l.Width), &cut)
			b.Eval(fmt.Sprintf(wider, l.Width), &wide)
			b.Eval(unsaid, &scrolls)
			if l.Phone {
				var lost []string
				if b.Eval(hidden, &lost); len(lost) > 0 {
					t.Errorf("%s at %d px: something of these tables is out of sight: %q", name, l.Width, lost)
				}
			}
			if len(scrolls) > 0 {
				t.Errorf("%s at %d px: nothing shows that these tables scroll: %q", name, l.Width, scrolls)
			}
			if len(cut)+len(wide) > 0 {
				t.Errorf("%s at %d px: cut %q, wider than the window %v", name, l.Width, cut, wide)
			}
		}
	}
}
