package web

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"

	"plimsoll/internal/browser"
	"plimsoll/runbook/journal"
)

// line is a connection between a browser and the page that can be cut.
type line struct {
	url string

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{url: "http://" + listener.Addr().String(), open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.carry(from, to) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		l.set(true)
		all.Wait()
	})
	return l
}

// carry is one connection, until either side ends it or the line is cut.
func (l *line) carry(from net.Conn, address string) {
	to, err := net.Dial("tcp", address)
	if err != nil {
		_ = from.Close()
		return
	}
	l.mu.Lock()
	l.open[from], l.open[to] = true, true
	cut := l.cut
	l.mu.Unlock()
	end := func() { _, _ = from.Close(), to.Close() }
	if cut {
		end()
	}
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			defer end()
			_, _ = io.Copy(pair[0], pair[1])
		})
	}
	both.Wait()
	l.mu.Lock()
	delete(l.open, from)
	delete(l.open, to)
	l.mu.Unlock()
}

// set cuts the line, or mends it.
func (l *line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		for c := range l.open {
			_ = c.Close()
		}
	}
}

// badge waits until the page says how fresh it is.
func badge(b *browser.Browser, state string) (text string) {
	b.Eval(`(async state => { const e = document.getElementById("live"); for (let n = 0; n < 200 && !e.classList.contains("is-" + state); n++) await new Promise(done => setTimeout(done, 50)); return e.className; })("`+state+`")`, &text)
	return text
}

// What happened in a minute in which the stream was lost stands on the page when it is back, all of it and once. The page's clock is the test's.
func TestBrowserMissesNothingWhenItsStreamWasLost(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	run := h.entered().begin("test/fails", "orders")
	h.await(run, "failed")
	enters(t, h, b)
	through := newLine(t, h.url[len("http://"):])
	enters(t, &house{Server: h.Server, t: t, url: through.url}, b)
	b.Open(through.url+"/runs/"+run, looks["1440"])
	if is := badge(b, "live"); is != "live is-live" {
		t.Fatalf("at first the badge is %s", is)
	}
	b.Eval(`globalThis.late = 0; const real = Date.now; Date.now = () => real() + globalThis.late; globalThis.loaded = "once"`, nil)
	const entries = `(root => [...root.querySelectorAll("#events tr")].map(row => { const r = row.cloneNode(true); for (const t of r.querySelectorAll("[data-ago]")) t.remove(); return r.textContent.replace(/\s+/g, " ").trim(); }))`
	var before, after, there []string
	b.Eval(entries+"(document)", &before)
	through.set(true)
	for again := range 2 { // twelve entries, which is how many the page shows
		h.entered().post("/runs/"+run+"/rerun", "step", "second", "reason", "while nobody hears")
		h.awaitThat(run, func(st *journal.State) bool { return len(st.Orders) == again+2 && st.Status() == "failed" })
	}
	b.Eval(`globalThis.late += 60_000; 0`, nil)
	if is := badge(b, "stale"); is != "live is-stale" {
		t.Errorf("a minute after the line was cut the badge is %s", is)
	}
	if b.Eval(entries+"(document)", &after); len(after) != len(before) {
		t.Errorf("with the line cut the page heard of %d entries", len(after)-len(before))
	}
	through.set(false)
	if is := badge(b, "live"); is != "live is-live" {
		t.Errorf("when the line was mended the badge is %s", is)
	}
	b.Eval(`(async () => { const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html"); return globalThis.there = `+entries+`(page); })()`, &there)
	b.Eval(`(async want => { const now = () => `+entries+`(document); for (let n = 0; n < 100 && now().join() !== want.join(); n++) await new Promise(done => setTimeout(done, 50)); return now(); })(globalThis.there)`, &after)
	if slices.ContainsFunc(there, func(entry string) bool { return slices.Contains(before, entry) }) || len(there) < 12 || !slices.Equal(after, there) {
		t.Errorf("before there were\n%q\nthe page shows\n%q, expected\n%q", before, after, there)
	}
	var loaded string
	if b.Eval(`String(globalThis.loaded)`, &loaded); loaded != "once" {
		t.Error("the page was loaded again")
	}
}

// Behind a proxy that holds streams back the page asks again and again, says so, and shows what happens. The page's clock is twelve times as fast.
func TestBrowserAsksWhereStreamsAreHeldBack(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	run := h.entered().begin("test/asks", "orders")
	plan := h.await(run, "asking").Header.Plan.Hash
	to, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/live" {
			pass.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // what the stream says would come when its end is there
	}))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	enters(t, &house{Server: h.Server, t: t, url: proxy.URL}, b)
	b.Do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `{ const real = Date.now, from = real(); Date.now = () => from + 12.5 * (real() - from); }`}, nil)
	b.Open(proxy.URL+"/runs/"+run, looks["1440"])
	if is := badge(b, "polling"); is != "live is-polling" {
		t.Fatalf("behind the proxy the badge is %s", is)
	}
	h.entered().post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders")
	h.await(run, "done")
	var seen []string
	b.Eval(`(async () => { const said = new Set(), badge = document.getElementById("live"); new MutationObserver(() => said.add(badge.className)).observe(badge, {attributes: true});
	  for (let n = 0; n < 200 && document.querySelector(".big .state").textContent !== "done"; n++) await new Promise(done => setTimeout(done, 50));
	  await new Promise(done => setTimeout(done, 2200)); return [document.querySelector(".big .state").textContent, ...said]; })()`, &seen)
	if !slices.Equal(seen, []string{"done", "live is-polling"}) {
		t.Errorf("the page says, and its badge meanwhile: %q", seen)
	}
}
