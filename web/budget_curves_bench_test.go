package web

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/browser"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

// readings are those of forty series of orders/n1 from a moment on, one a second.
func readings(from time.Time, seconds int) (all []watch.Sample) {
	for n := range seconds {
		at := from.Add(time.Duration(n) * time.Second)
		var r watch.Reading
		add := func(name string, v float64, labels ...string) {
			r.Add(at, name, v, append([]string{"cluster", "orders", "instance", "orders/n1"}, labels...)...)
		}
		second := float64(at.Unix())
		wave := func(k int) float64 { return 2 + math.Sin(second/600+float64(k)) }
		for k, class := range watch.Classes[:11] {
			add("plimsoll_aas", wave(k)/4, "wait", class)
		}
		for k := range 16 {
			add("plimsoll_replica_lag_seconds", wave(k), "channel", fmt.Sprint("c", k))
		}
		for k, part := range []string{"total", "redo", "binlog", "semi-sync", "queue"} {
			add("plimsoll_commit_part_seconds_total", second*float64(k+1)/1000, "part", part)
			add("plimsoll_commit_parts_total", second, "part", part)
		}
		add("mysql_global_status_questions", second*1000)
		add("mysql_global_status_threads_running", float64(at.UnixMilli())/1000) // by which a page tells how old it is
		add("plimsoll_iops", 1000*wave(1))
		all = append(all, r.Samples...)
	}
	return all
}

// withSeries is a house whose curves are those of a store, which has forty series of the last period.
func withSeries(b *testing.B, period time.Duration) (*house, *store.Store) {
	b.Helper()
	s, err := store.Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() }) // it is thrown away
	const atOnce = 300
	for at := time.Now().Truncate(time.Second).Add(-period); time.Since(at) > 0; at = at.Add(atOnce * time.Second) {
		if err := s.Append(b.Context(), readings(at, min(atOnce, int(time.Since(at).Seconds())+1))); err != nil {
			b.Fatal(err)
		}
	}
	h := newHouse(b)
	h.Watch.Query = s.Query
	return h, s
}

// whenDrawn notes in each page when all its curves are drawn, and when a button of the mouse was released before.
const whenDrawn = `
addEventListener("mouseup", () => sessionStorage.setItem("released", Date.now()), true);
new MutationObserver((_, self) => {
  const all = [...document.querySelectorAll("#curves figure[data-chart]")];
  if (!all.length || !all.every(f => f.querySelector("canvas"))) return;
  self.disconnect();
  requestAnimationFrame(() => { globalThis.drawn = {opened: performance.now(), released: Date.now() - sessionStorage.getItem("released"), curves: all.length}; });
}).observe(document, {subtree: true, childList: true});`

// allDrawn waits for that.
func allDrawn(b *testing.B, w *browser.Browser) (opened, released float64) {
	b.Helper()
	var d struct {
		Opened, Released float64
		Curves           int
	}
	w.Eval(`(async () => { for (let n = 0; n < 1000 && !globalThis.drawn; n++) await new Promise(done => setTimeout(done, 20)); return globalThis.drawn; })()`, &d)
	if d.Curves != 6 {
		b.Fatalf("%d curves are drawn", d.Curves)
	}
	return d.Opened, d.Released
}

// benchmarkDay opens a day of forty series, from the store until the browser has drawn all of it, and drags over a quarter of it.
func benchmarkDay(b *testing.B) {
	w := browser.New(b)
	h, _ := withSeries(b, 24*time.Hour)
	enters(b, h, w)
	w.Do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": whenDrawn}, nil)
	for range b.N {
		var days, zooms []float64
		for n := range 5 {
			// Each time up to another moment: nothing of it was asked for before.
			w.Open(fmt.Sprintf("%s/fleet/orders/n1?span=24h&to=%d", h.url, time.Now().Unix()-180*int64(n+1)), looks["1440"])
			opened, _ := allDrawn(b, w)
			days = append(days, opened)
			var at struct{ X, Y, Width float64 }
			w.Eval(`(() => { const over = document.querySelector("figure.wide .u-over"); over.scrollIntoView({block: "center"}); const r = over.getBoundingClientRect(); return {X: r.x, Y: r.y + r.height / 2, Width: r.width}; })()`, &at)
			for _, step := range []struct {
				kind string
				x    float64
			}{{"mousePressed", 0.4}, {"mouseMoved", 0.5}, {"mouseMoved", 0.65}, {"mouseReleased", 0.65}} {
				w.Do("Input.dispatchMouseEvent", map[string]any{"type": step.kind, "x": at.X + step.x*at.Width, "y": at.Y, "button": "left", "buttons": 1, "clickCount": 1}, nil)
			}
			w.Loaded(looks["1440"])
			_, released := allDrawn(b, w)
			zooms = append(zooms, released)
		}
		b.ReportMetric(quantile(days, 0.5), "ms-drawn")
		b.ReportMetric(quantile(zooms, 0.5), "ms-zoomed")
	}
}

// arrivals note in the page how old the newest reading on a curve is when it is drawn, and with that how often curves were asked for.
const arrivals = `
globalThis.ages = [];
const fetched = globalThis.fetch;
globalThis.fetch = async (...of) => {
  const got = await fetched(...of), json = got.json.bind(got);
  got.json = async () => {
    const answer = await json(), at = answer.charts.find(c => c.title === "threads").lines[0].values.findLast(v => v != null);
    requestAnimationFrame(() => globalThis.ages.push(Date.now() - 1000 * at));
    return answer;
  };
  return got;
};`

// fed adds a reading to the store every second, as a watch does, until the benchmark ends.
func fed(b *testing.B, s *store.Store) (stop func()) {
	b.Helper()
	var all sync.WaitGroup
	end := make(chan struct{})
	all.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case now := <-tick.C:
				if err := s.Append(b.Context(), readings(now, 1)); err != nil {
					b.Error(err)
				}
			}
		}
	})
	return func() { close(end); all.Wait() }
}

// watchesTab has the browser count what the page's own thread works, by the clock of its processor.
func watchesTab(w *browser.Browser) {
	w.Do("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
}

// busy is how long the page's own thread worked in a period, in percent of a core.
func busy(w *browser.Browser, during func()) float64 {
	worked := func() float64 { return metric(w, "TaskDuration") }
	before, begun := worked(), time.Now()
	during()
	return 100 * (worked() - before) / time.Since(begun).Seconds()
}

func metric(w *browser.Browser, name string) float64 {
	var m struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	w.Do("Performance.getMetrics", nil, &m)
	for _, one := range m.Metrics {
		if one.Name == name {
			return one.Value
		}
	}
	return math.NaN()
}

// benchmarkLive leaves the curves of an instance open for half a minute: how old what they show is, and what the tab takes.
func benchmarkLive(b *testing.B) {
	w := browser.New(b)
	h, s := withSeries(b, 20*time.Minute)
	enters(b, h, w)
	defer fed(b, s)()
	watchesTab(w)
	w.Do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": arrivals}, nil)
	for range b.N {
		w.Open(h.url+"/fleet/orders/n1", looks["1440"])
		<-time.After(5 * time.Second)
		w.Eval("globalThis.ages.length = 0", nil)
		b.ReportMetric(busy(w, func() { <-time.After(30 * time.Second) }), "%-of-a-core")
		var ages []float64
		w.Eval("globalThis.ages", &ages)
		if len(ages) < 5 {
			b.Fatalf("the curves were drawn %d times", len(ages))
		}
		b.ReportMetric(quantile(ages, 0.5), "ms-median")
		b.ReportMetric(quantile(ages, 0.99), "ms-p99")
	}
}

// benchmarkTick has an instance of a fleet read every second, and notes how old its figures are when they are on the screen. What is replaced by a newer
// reading before anybody looked is not shown.
func benchmarkTick(b *testing.B, size int) {
	w, h := browser.New(b), newHouse(b)
	m := newMoving(size)
	h.Watch.Fleet = m.picture
	enters(b, h, w)
	watchesTab(w)
	for range b.N {
		w.Open(h.url+"/fleet", looks["1440"])
		w.Eval(`(async () => { while (!document.querySelector(".live.is-live")) await new Promise(done => setTimeout(done, 20));
		  const seen = globalThis.seen = {}, row = document.querySelector("[data-key='shop000/n1']");
		  new MutationObserver(() => { for (const [text] of document.querySelector("[data-key='shop000/n1']").textContent.matchAll(/[\d,]+\/s/g)) seen[text] ??= Date.now(); }).observe(row.parentNode, {subtree: true, childList: true, attributes: true, characterData: true}); })()`, nil)
		var late []float64
		read := map[string]float64{}
		used := busy(w, func() {
			for n := range 40 {
				read[fmt.Sprintf("3,%03d/s", n+100)] = float64(time.Now().UnixMicro()) / 1000
				m.change(func(all []watch.Instance) {
					for k := range all {
						if k%10 == 0 { // a tenth of them
							all[k].Throughput = ptr(float64(3100 + n))
						}
					}
				})
				<-time.After(time.Second + 27*time.Millisecond) // at another time of the second each
			}
			<-time.After(2 * time.Second)
		})
		var seen map[string]float64
		w.Eval("globalThis.seen", &seen)
		for text, at := range read {
			if shown, is := seen[text]; is {
				late = append(late, shown-at)
			}
		}
		if len(late) < len(read)/5 {
			b.Fatalf("%d of %d readings were seen: %v", len(late), len(read), seen)
		}
		b.ReportMetric(quantile(late, 0.5), "ms-median")
		b.ReportMetric(quantile(late, 0.99), "ms-p99")
		b.ReportMetric(used, "%-of-a-core")
	}
}

// hastened makes the clocks of a page run faster: what it does every two seconds, it does that much more often.
const hastened = `
const later = globalThis.setTimeout;
globalThis.setTimeout = (f, ms, ...of) => later(f, ms / 40, ...of);`

// benchmarkMemory leaves the curves of an instance open for as many refreshes as hours bring, in a minute and a half, and says what is left in memory.
func benchmarkMemory(b *testing.B) {
	w := browser.New(b)
	h, s := withSeries(b, 20*time.Minute)
	enters(b, h, w)
	defer fed(b, s)()
	watchesTab(w)
	w.Do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": hastened + arrivals}, nil)
	held := func() (megabytes, refreshes, nodes float64) {
		for range 2 {
			w.Do("HeapProfiler.collectGarbage", nil, nil)
		}
		w.Eval("globalThis.ages.length", &refreshes)
		return metric(w, "JSHeapUsedSize") / 1e6, refreshes, metric(w, "Nodes")
	}
	for range b.N {
		w.Open(h.url+"/fleet/orders/n1?span=5m", looks["1440"])
		<-time.After(15 * time.Second) // caches and compiled code are there
		before, first, nodes := held()
		<-time.After(90 * time.Second)
		after, last, more := held()
		const day = 24 * 3600 / 2 // refreshes, each two seconds
		b.Logf("%.0f refreshes, %.2f MB and %.0f nodes, then %.2f MB and %.0f nodes", last-first, before, nodes, after, more)
		if last-first < 100 {
			b.Fatalf("only %.0f refreshes", last-first)
		}
		b.ReportMetric(last-first, "refreshes")
		b.ReportMetric(after, "MB-of-the-tab")
		b.ReportMetric(math.Max(after-before, 0)/(last-first)*day, "MB-more-in-a-day")
	}
}

// benchmarkSlowLine opens every page for the first time over a slow line: 3G, as Chromium simulates it.
func benchmarkSlowLine(b *testing.B) {
	w, h := browser.New(b), newHouse(b)
	pages := scene(b, h)
	enters(b, h, w)
	w.Do("Network.setCacheDisabled", map[string]any{"cacheDisabled": true}, nil)
	w.Do("Network.emulateNetworkConditions", map[string]any{"offline": false, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 768e3 / 8}, nil)
	for range b.N {
		var all []float64
		slowest := ""
		for name, path := range pages {
			paint, _ := opened(w, h.url+path)
			if len(all) == 0 || paint > all[len(all)-1] {
				slowest = strings.Join([]string{name, fmt.Sprint(paint)}, ", ")
			}
			all = append(all, paint)
			quantile(all, 0) // sorts them
		}
		b.Logf("the slowest page is %s", slowest)
		b.ReportMetric(quantile(all, 0.5), "ms-median-page")
		b.ReportMetric(quantile(all, 1), "ms-slowest-page")
	}
}
