package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/browser"
	"plimsoll/web/access"
)

// listener reads a stream's events: their kind and data.
type listener struct {
	events chan [2]string
	closed chan struct{}
}

// listen reads the stream of a page; of one that the visitor has already, by its token.
func listen(t testing.TB, v *visitor, page string, sent ...string) (*listener, http.Header) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.h.url+"/live?page="+url.QueryEscape(page)+"&sent="+strings.Join(sent, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	l := &listener{events: make(chan [2]string, 100), closed: make(chan struct{})}
	go func() {
		defer close(l.closed)
		kind := ""
		lines := bufio.NewScanner(answer.Body)
		for lines.Buffer(nil, 4<<20); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				kind = value
			case "data":
				select {
				case l.events <- [2]string{kind, value}:
				case <-ctx.Done():
				}
			}
		}
	}()
	return l, answer.Header
}

// hear waits for an event of a kind whose data holds a text.
func (l *listener) hear(t testing.TB, kind, text string) string {
	t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case e := <-l.events:
			if e[0] == kind && strings.Contains(e[1], text) {
				return e[1]
			}
		case <-end:
			t.Fatalf("no %s that says %q", kind, text)
		}
	}
}

func TestAStreamSendsWhatChanges(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks", "orders")
	plan := h.await(run, "asking").Header.Plan.Hash
	l, headers := listen(t, v, "/runs/"+run)
	for header, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"} {
		if got := headers.Get(header); got != want {
			t.Errorf("%s: %q", header, got)
		}
	}
	l.hear(t, "part", "needs approval")
	began := time.Now()
	v.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders")
	l.hear(t, "part", "s-done")
	t.Logf("shown %s after the answer", time.Since(began).Round(time.Millisecond))
	l.hear(t, "ping", "")
	// Who leaves hears no more.
	v.post("/leave")
	l.hear(t, "bye", "session")
	<-l.closed
}

// What another process writes into a run is noticed while somebody looks, and not at the next second alone.
func TestWhatAnotherProcessWritesIsNoticed(t *testing.T) {
	h := newHouse(t)
	s := &show{prompt: true, poke: make(chan struct{}, 1)}
	h.live.mu.Lock()
	h.live.shows["a run"] = s // which looks by itself at nothing
	h.live.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	var listens sync.WaitGroup
	listens.Go(func() { h.live.listen(ctx) })
	defer listens.Wait()
	defer cancel()
	book, err := h.runbook("test/quick")
	if err != nil {
		t.Fatal(err)
	}
	h.executes(h.elsewhere(), book, func(string) { rest(t.Context(), 3*listenEvery) })
	select {
	case <-s.poke:
	case <-time.After(20 * time.Second):
		t.Error("nothing was noticed")
	}
}

// A page that knows nothing new says nothing: what only the clock changes is the reader's to count.
func TestAStreamIsQuietWhileNothingHappens(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	h.await(v.begin("test/quick", "orders"), "done")
	l, _ := listen(t, v, "/runs")
	l.hear(t, "part", "quick")
	l.hear(t, "ping", "")
	for len(l.events) > 0 {
		if e := <-l.events; e[0] == "part" {
			t.Errorf("it said %s", e[1])
		}
	}
}

// Whose user is taken out of the file, or given another role, or who did nothing for half a day, hears no more, with the page open.
func TestAStreamEndsWithTheRightToSeeIt(t *testing.T) {
	for name, revoke := range map[string]func(h *house, config string){
		"taken out":          func(h *house, config string) { h.write("web.yml", strings.Replace(config, "vera:", "vera2:", 1)) },
		"slower than before": func(h *house, config string) { h.write("web.yml", strings.Replace(config, "operate", "view", 1)) },
		"idle":               func(h *house, _ string) { h.now.advance(13 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			config := fmt.Sprintf("basic_auth_users: {vera: %q}\nroles: {vera: operate}\n", hash(t, "v"))
			h := newHouseWith(t, config)
			v := h.visitor()
			if a := v.post("/enter", "name", "vera", "password", "v"); a.status != http.StatusSeeOther {
				t.Fatalf("vera is answered %d", a.status)
			}
			l, _ := listen(t, v, "/runs")
			l.hear(t, "ping", "")
			revoke(h, config)
			l.hear(t, "bye", "session")
			<-l.closed
		})
	}
}

func TestAStreamIsNotForStrangers(t *testing.T) {
	h := newHouse(t)
	if a := h.visitor().get("/live?page=/runs"); a.status != http.StatusUnauthorized {
		t.Errorf("a stranger is answered %d", a.status)
	}
	if a := h.entered().get("/live?page=https://evil.example/"); a.status != http.StatusBadRequest {
		t.Errorf("another site's page is answered %d", a.status)
	}
}

// What is no page that changes can be asked for like one, and a page whose handler panics too: the server goes on.
func TestAStreamOfWhatIsNoPage(t *testing.T) {
	h := newHouse(t)
	h.api = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			panic("of a test")
		}
		w.WriteHeader(http.StatusOK)
	})
	as := viewer{person: access.Person{Name: "ann@test", Role: access.Operate, Method: access.ByPassword}, language: "en"}
	for _, page := range []string{"/assets/page.css", "/metrics", "/api/v1/query", "/none"} {
		if parts, err := h.partsOf(t.Context(), &url.URL{Path: page}, as); err == nil {
			t.Errorf("%s has parts that change: %v", page, parts)
		}
	}
	v := h.entered()
	listen(t, v, "/metrics")
	if a := v.get("/live?page=/live?page=/"); a.status != http.StatusBadRequest {
		t.Errorf("a stream of a stream is answered %d", a.status)
	}
	if a := v.get("/"); a.status != http.StatusOK {
		t.Errorf("after it the page is answered %d", a.status)
	}
	if text := h.logged.String(); !strings.Contains(text, "of a test") {
		t.Errorf("what panicked is not logged: %s", text)
	}
}

// While nobody looks at runs nobody asks the journals whether they have grown.
func TestOnlyPagesOfRunsListen(t *testing.T) {
	h := newHouse(t)
	nothing := func(context.Context) (map[string]string, error) { return nil, nil }
	listens := func() bool {
		h.live.mu.Lock()
		defer h.live.mu.Unlock()
		return h.live.deaf != nil
	}
	var leaves []func()
	for _, one := range []struct {
		page           string
		prompt, listen bool
	}{{"fleet", false, false}, {"runs", true, true}} {
		_, leave, err := h.live.enter(one.page, one.prompt, nothing)
		if err != nil || listens() != one.listen {
			t.Errorf("with the page of %s open they are asked: %t, %v", one.page, listens(), err)
		}
		leaves = append(leaves, leave)
	}
	if leaves[1](); listens() {
		t.Error("when the page of runs was left they are still asked")
	}
	leaves[0]()
}

// A page whose server is gone never looks fresh: twelve seconds after it heard from it last it says so. The page's clock is the test's.
func TestBrowserSaysThatItIsStale(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	enters(t, h, b)
	b.Open(h.url+"/runs", looks["1440"])
	badge := func(state string) (text string) {
		t.Helper()
		b.Eval(`(async state => { const e = document.getElementById("live"); for (let n = 0; n < 100 && !e.classList.contains("is-" + state); n++) await new Promise(done => setTimeout(done, 100)); return e.textContent; })("`+state+`")`, &text)
		return text
	}
	if text := badge("live"); text != "live" {
		t.Errorf("at first it says %q", text)
	}
	b.Eval(`globalThis.then = Date.now(); Date.now = () => globalThis.then; 0`, nil)
	h.await(h.entered().begin("test/quick", "orders"), "done")
	b.Eval(`(async () => { for (let n = 0; n < 200 && !document.querySelector("#runs .s-done"); n++) await new Promise(done => setTimeout(done, 50)); })()`, nil) // it heard of that
	h.stop()
	b.Eval(`globalThis.then += 11_900; new Promise(done => setTimeout(done, 2200))`, nil) // the page has looked at its clock twice
	if text := badge("live"); text != "live" {
		t.Errorf("too early it says %q", text)
	}
	b.Eval(`globalThis.then += 100; 0`, nil)
	if text := badge("stale"); !strings.HasPrefix(text, "stale since ") {
		t.Errorf("without its server it says %q", text)
	}
}

func TestOneStreamTooManyIsRefused(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	h.live.mu.Lock()
	h.live.streams = mostStreams
	h.live.mu.Unlock()
	if a := v.get("/live?page=/", "Accept", "application/json"); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "streamed already") {
		t.Errorf("it is answered %d %s", a.status, a.body)
	}
}
