package web

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/internal/browser"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/watch"
)

// BenchmarkBudget measures the budgets of pages that are times, in a real browser: make bench SECTIONS=web shows them beside their goals.
func BenchmarkBudget(b *testing.B) {
	b.Run("paint", benchmarkPaint)
	b.Run("fleet of 500", benchmarkFleet)
	b.Run("a day of curves", benchmarkCurves)
	b.Run("a day of 40 series", benchmarkDay)
	b.Run("live curves", benchmarkLive)
	b.Run("tick", func(b *testing.B) { benchmarkTick(b, 5) })
	b.Run("tick of 500", func(b *testing.B) { benchmarkTick(b, 500) })
	b.Run("tab of a day", benchmarkMemory)
	b.Run("slow line", benchmarkSlowLine)
	b.Run("entry to screen", benchmarkEntry)
	b.Run("run of 20000 entries", benchmarkRun)
	b.Run("log of 1000000 lines", benchmarkLog)
	b.Run("100 viewers", func(b *testing.B) { benchmarkViewers(b, 5) })
	b.Run("100 viewers of 500", func(b *testing.B) { benchmarkViewers(b, 500) })
}

// opened is how long a page took until something of it was painted, and until all of it was there, in milliseconds: the median of five.
func opened(b *browser.Browser, url string) (paint, load float64) {
	var paints, loads []float64
	for range 5 {
		b.Open(url, looks["1440"])
		var ms [2]float64
		b.Eval(`(async () => { for (let n = 0; n < 100 && !performance.getEntriesByName("first-contentful-paint").length; n++) await new Promise(done => setTimeout(done, 20));
		  return [performance.getEntriesByName("first-contentful-paint")[0].startTime, performance.getEntriesByType("navigation")[0].loadEventEnd]; })()`, &ms)
		paints, loads = append(paints, ms[0]), append(loads, ms[1])
	}
	return quantile(paints, 0.5), quantile(loads, 0.5)
}

func quantile(all []float64, q float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[min(int(q*float64(len(all))), len(all)-1)]
}

func benchmarkPaint(b *testing.B) {
	w, h := browser.New(b), newHouse(b)
	pages := scene(b, h)
	enters(b, h, w)
	for range b.N {
		slowest, all := "", []float64{}
		for name, path := range pages {
			paint, _ := opened(w, h.url+path)
			if len(all) == 0 || paint > slices.Max(all) {
				slowest = name
			}
			all = append(all, paint)
		}
		b.Logf("the slowest page is %s", slowest)
		b.ReportMetric(quantile(all, 0.5), "ms-median-page")
		b.ReportMetric(slices.Max(all), "ms-slowest-page")
	}
}

func benchmarkFleet(b *testing.B) {
	w, h := browser.New(b), newHouse(b)
	h.Watch.Fleet = newMoving(500).picture
	enters(b, h, w)
	for range b.N {
		paint, load := opened(w, h.url+"/fleet")
		b.ReportMetric(paint, "ms-paint")
		b.ReportMetric(load, "ms-load")
	}
}

func benchmarkCurves(b *testing.B) {
	w, h := browser.New(b), newHouse(b)
	enters(b, h, w)
	for range b.N {
		paint, load := opened(w, h.url+"/fleet/orders/n1?span=24h")
		b.ReportMetric(paint, "ms-paint")
		b.ReportMetric(load, "ms-load")
	}
}

// benchmarkEntry has another process' store execute a run of many steps, and notes in the browser when each entry of its journal is there.
func benchmarkEntry(b *testing.B) {
	w, h := browser.New(b), newHouse(b)
	enters(b, h, w)
	var text strings.Builder
	text.WriteString("runbook: test/many\nabout: Many steps.\nsteps:\n")
	for n := range 60 {
		fmt.Fprintf(&text, "  - id: s%d\n    uses: command\n    with: {run: \"sleep 0.1; touch %s/s%d\", check: \"test -e %s/s%d\", repeatable: true}\n", n, h.folder, n, h.folder, n)
	}
	book, err := runbook.Parse("test/many", []byte(text.String()), action.Generic())
	if err != nil {
		b.Fatal(err)
	}
	other := h.elsewhere()
	for range b.N {
		run := h.executes(other, book, func(run string) {
			w.Open(h.url+"/runs/"+run, looks["1440"])
			w.Eval(`(async () => { while (!document.querySelector(".live.is-live")) await new Promise(done => setTimeout(done, 20));
			  const seen = globalThis.seen = {}, look = () => { for (const e of document.querySelectorAll("#events tr")) seen[e.id.slice(1)] ??= Date.now(); };
			  look(); new MutationObserver(look).observe(document.getElementById("events"), {subtree: true, childList: true, attributes: true, characterData: true}); })()`, nil)
		})
		<-time.After(time.Second)
		var seen map[string]float64
		w.Eval("globalThis.seen", &seen)
		entries, err := other.Store.Entries(b.Context(), run)
		if err != nil {
			b.Fatal(err)
		}
		var late []float64
		for _, e := range entries {
			if at, is := seen[strconv.Itoa(e.Number)]; is && e.Number > 1 {
				late = append(late, at-float64(e.At.UnixMicro())/1000)
			}
		}
		if len(late) < len(entries)*9/10 {
			b.Fatalf("%d of %d entries were seen", len(late), len(entries))
		}
		b.ReportMetric(quantile(late, 0.5), "ms-median")
		b.ReportMetric(quantile(late, 0.99), "ms-p99")
	}
}

// lengthened is a run that ended, and has so many entries more than it wrote.
func lengthened(b *testing.B, h *house, more int) (run string) {
	run = h.entered().begin("test/quick", "orders")
	h.await(run, "done")
	db, err := sql.Open("sqlite", filepath.Join(h.state, "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it was committed
	db.SetMaxOpenConns(1)
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	_, err = db.ExecContext(b.Context(), "PRAGMA busy_timeout = 10000")
	must(err)
	entries, err := h.Runs.Store.Entries(b.Context(), run)
	must(err)
	last := entries[len(entries)-1]
	var workflow, output string
	var function int
	must(db.QueryRowContext(b.Context(), `SELECT workflow_uuid, function_id, output FROM operation_outputs WHERE function_name = 'entry' ORDER BY rowid DESC LIMIT 1`).Scan(&workflow, &function, &output))
	tx, err := db.BeginTx(b.Context(), nil)
	must(err)
	lines := make([]json.RawMessage, 0, 1000)
	for n := range more {
		data, err := json.Marshal(journal.Event{Kind: journal.Said, Reason: fmt.Sprintf("line %d of what happened", n)})
		must(err)
		last = last.Follow(last.Session, time.Now(), data)
		line, err := json.Marshal(last)
		must(err)
		if strings.HasPrefix(output, `"`) {
			line, err = json.Marshal(string(line))
			must(err)
		}
		line, err = json.Marshal(string(line)) // as json_each takes a text
		must(err)
		if lines = append(lines, line); len(lines) < cap(lines) && n < more-1 {
			continue
		}
		all, err := json.Marshal(lines)
		must(err)
		_, err = tx.ExecContext(b.Context(), `INSERT INTO operation_outputs (workflow_uuid, function_id, function_name, output, serialization)
			SELECT workflow_uuid, ? + key, function_name, value, serialization FROM operation_outputs, json_each(?) WHERE workflow_uuid = ? AND function_id = ?`,
			function+2+n-len(lines), string(all), workflow, function)
		must(err)
		lines = lines[:0]
	}
	_, err = tx.ExecContext(b.Context(), `UPDATE plimsoll_heads SET number = ?, hash = ? WHERE run = ?`, last.Number, last.Hash, run)
	must(err)
	must(tx.Commit())
	h.states.mu.Lock()
	h.states.kept = nil // as plimsoll serve has it that has just begun
	h.states.mu.Unlock()
	return run
}

func benchmarkRun(b *testing.B) {
	w, h := browser.New(b), newHouse(b)
	enters(b, h, w)
	run := lengthened(b, h, 20_000)
	for range b.N {
		began := time.Now()
		w.Open(h.url+"/runs/"+run, looks["1440"])
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-first")
		_, load := opened(w, h.url+"/runs/"+run)
		b.ReportMetric(load, "ms-again")
		b.ReportMetric(heapOf(w), "MB-of-the-tab")
	}
}

func benchmarkLog(b *testing.B) {
	w, h := browser.New(b), newHouse(b)
	enters(b, h, w)
	run := lengthened(b, h, 1_000_000)
	for range b.N {
		for name, query := range map[string]string{"newest": "", "middle": "?before=500000", "found": "?search=line+99998", "searched": "?search=nothing+of+it"} {
			_, load := opened(w, h.url+"/runs/"+run+"/log"+query)
			b.ReportMetric(load, "ms-"+name)
		}
		b.ReportMetric(heapOf(w), "MB-of-the-tab")
	}
}

// heapOf is what the scripts of the page that is open hold.
func heapOf(w *browser.Browser) float64 {
	var m struct{ UsedSize float64 }
	w.Do("Runtime.getHeapUsage", nil, &m)
	return m.UsedSize / 1e6
}

// viewersVariable makes this program the viewers: an address and a cookie.
const viewersVariable = "WEB_BENCH_VIEWERS"

// beViewers reads a hundred streams of a page and takes no notice of what they say, until it is ended.
func beViewers(text string) {
	address, cookie, _ := strings.Cut(text, " ")
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			r, err := http.NewRequest(http.MethodGet, address, nil)
			if err != nil {
				panic(err)
			}
			r.Header.Set("Cookie", cookie)
			answer, err := http.DefaultClient.Do(r)
			if err != nil || answer.StatusCode != http.StatusOK {
				panic(fmt.Sprint(answer, err))
			}
			_, _ = io.Copy(io.Discard, answer.Body) // until it is ended
			_ = answer.Body.Close()
		})
	}
	fmt.Println("there")
	all.Wait()
}

// benchmarkViewers has a hundred look at a fleet of which a tenth changes every second, and says what that costs this process.
func benchmarkViewers(b *testing.B, size int) {
	h := newHouse(b)
	m := newMoving(size)
	h.Watch.Fleet = m.picture
	v := h.entered()
	page, err := http.NewRequest(http.MethodGet, h.url, nil)
	if err != nil {
		b.Fatal(err)
	}
	var cookies []string
	for _, c := range v.client.Jar.Cookies(page.URL) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	viewers := exec.CommandContext(b.Context(), program, "-test.run=^$")
	viewers.Env = append(os.Environ(), viewersVariable+"="+h.url+"/live?page=/fleet "+strings.Join(cookies, "; "))
	viewers.Stderr = os.Stderr
	out, err := viewers.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := viewers.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = viewers.Process.Kill(); _ = viewers.Wait() }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	var used time.Duration
	var begun time.Time
	for n := range 3 + 20 {
		if n == 3 { // all of them are there, and have what they see first
			used, begun = processorTime(), time.Now()
		}
		m.change(func(all []watch.Instance) {
			for k := range max(len(all)/10, 1) {
				all[(n*7+k)%len(all)].Throughput = ptr(float64(1000 + n))
			}
		})
		<-time.After(time.Second)
	}
	h.live.mu.Lock()
	streams := h.live.streams
	h.live.mu.Unlock()
	if streams != 100 {
		b.Fatalf("%d streams", streams)
	}
	b.ReportMetric(100*(processorTime()-used).Seconds()/time.Since(begun).Seconds(), "%-of-a-core")
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/1e6, "MB")
}

// processorTime is what this process has used of its processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
