package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/advise"
	"plimsoll/analyze"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/infra/local"
	"plimsoll/internal/document"
	"plimsoll/report/reporttest"
	"plimsoll/result"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/series"
	"plimsoll/trial/progress"
	"plimsoll/watch"
	"plimsoll/watch/api"
	"plimsoll/watch/store"
	"plimsoll/web/access"
)

// The runbooks of the tests. DIR is a folder; what they change are files in it.
var testBooks = map[string]string{
	"test/quick": `
runbook: test/quick
about: Writes one word into a file.
inputs: {word: {default: hello, about: What is written.}}
steps:
  - id: write
    uses: command
    with: {run: "echo ${{ inputs.word }} > DIR/word", check: "test \"$(cat DIR/word 2>/dev/null)\" = ${{ inputs.word }}", undo: "rm -f DIR/word", repeatable: true}
`,
	"test/asks": `
runbook: test/asks
about: Prepares, asks, and removes for good.
inputs: {node: {type: node, default: n2}, mode: {enum: [fast, safe], default: safe}}
gate: {rehearsals: 2}
steps:
  - id: prepare
    uses: command
    with: {run: "touch DIR/prepared", check: "test -e DIR/prepared", undo: "rm -f DIR/prepared", repeatable: true}
  - id: go
    approval: {note: "Remove the file of ${{ inputs.node }} for good?", timeout: 4h}
  - id: remove
    uses: command
    with: {run: "touch DIR/removed", check: "test -e DIR/removed", repeatable: true}
`,
	"test/waits": `
runbook: test/waits
about: Waits for a file, and writes another.
steps:
  - id: wait
    uses: command
    with: {run: "for n in $(seq 600); do test -e DIR/goes && exit; sleep 0.05; done; false", check: "test -e DIR/goes", repeatable: true}
  - id: write
    uses: command
    with: {run: "touch DIR/went", check: "test -e DIR/went", repeatable: true}
`,
	"test/asks-itself": `
runbook: test/asks-itself
about: Asks before it writes.
steps:
  - id: write
    uses: command
    with: {run: "touch DIR/itself", check: "test -e DIR/itself", repeatable: true}
    approval: {note: "Write it?", timeout: 4h}
`,
	"test/fails": `
runbook: test/fails
about: Fails at its second step.
steps:
  - id: first
    uses: command
    with: {run: "touch DIR/first", check: "test -e DIR/first", undo: "rm -f DIR/first", repeatable: true}
  - id: second
    uses: command
    with: {run: "test -e DIR/mended && touch DIR/second || { printf '\\033[31mno such <b>disk</b>\\033[0m\\n' >&2; false; }", check: "test -e DIR/second", undo: "rm -f DIR/second", repeatable: true}
`,
}

// house is the page over a state folder of its own.
type house struct {
	*Server
	t      testing.TB
	url    string
	folder string
	state  string // folder
	now    *clockwork
	logged *lines
	marked []string      // by POST /api/marks
	api    http.Handler  // what answers /api/v1/ and /metrics; nil: nobody asks
	doubts chan []string // of the load generator of the trial that runs
	stop   func()
}

// clockwork is a clock that tests move.
type clockwork struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clockwork) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off)
}

func (c *clockwork) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

// lines is what was logged.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newHouse(t testing.TB) *house { return newHouseWith(t, "") }

// newHouseWith has a web-config file of this text; empty: none.
func newHouseWith(t testing.TB, config string) *house {
	t.Helper()
	h := &house{t: t, folder: t.TempDir(), state: t.TempDir(), now: &clockwork{}, logged: &lines{}, doubts: make(chan []string)}
	store, err := durable.Open(t.Context(), durable.Options{Folder: h.state, Version: journal.Interpreter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	on := func(_ context.Context, name string) (*cluster.Cluster, error) {
		environment := "lab"
		if strings.HasPrefix(name, "prod") {
			environment = runbook.Production
		}
		if name == "gone" {
			return nil, fmt.Errorf("there is no cluster %s", name)
		}
		return &cluster.Cluster{Name: name, Environment: environment, Local: machine, List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "n1", Machine: machine}, {Name: "n2", Machine: machine}}, nil
		}}, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := ""
	if config != "" {
		path = filepath.Join(h.folder, "web.yml")
		h.write("web.yml", config)
	}
	gate, err := access.New(access.Options{Listen: listener.Addr().String(), Config: path, Instance: "test", Owner: "ann@test", Token: "the-token", Now: h.now.Now, Log: slog.New(slog.NewTextHandler(h.logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	seen := watched()
	seen.Prometheus = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.api.ServeHTTP(w, r) })
	seen.Marks = api.Marks(func(c watch.Change) error { h.marked = append(h.marked, c.What); return nil }, func() []watch.Instance { return nil }, h.now.Now)
	h.Server, err = New(t.Context(), Deps{
		Gate: gate, Runs: &execute.Service{Store: store, Actions: action.Generic(), User: "ann@test", Holder: "test", TTL: 5 * time.Second, Open: on},
		Look: on, Clusters: func(context.Context) []string { return []string{"orders", "prod-orders"} }, Runbooks: document.SortedKeys(testBooks),
		Runbook: h.runbook, Trials: h.trials(), Watch: seen, Advice: h.advice(), Log: slog.New(slog.NewTextHandler(h.logged, nil)), Now: h.now.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: h.Handler()}}
	server.Start()
	h.stop = sync.OnceFunc(func() {
		h.Close()
		server.CloseClientConnections()
		server.Close()
	})
	t.Cleanup(h.stop)
	h.url = server.URL
	return h
}

// elsewhere is how another process works with the same state folder.
func (h *house) elsewhere() *execute.Service {
	h.t.Helper()
	store, err := durable.Open(h.t.Context(), durable.Options{Folder: h.state, Version: journal.Interpreter})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = store.Close() })
	other := *h.Runs
	other.Store = store
	return &other
}

// executes has a service execute a runbook until its run ends or waits; it is told which run that is before it begins.
func (h *house) executes(other *execute.Service, book *runbook.Runbook, told func(run string)) (run string) {
	h.t.Helper()
	must := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	p, err := other.Prepare(h.t.Context(), execute.Request{Book: book, Cluster: "orders"})
	must(err)
	run, err = other.Begin(h.t.Context(), p)
	must(err)
	told(run)
	e, err := other.Execute(h.t.Context())
	must(err)
	must(other.Start(h.t.Context(), e, run, journal.Command{Do: "run"}))
	must(e.Wait(h.t.Context(), run))
	must(e.Close(h.t.Context()))
	return run
}

func (h *house) runbook(name string) (*runbook.Runbook, error) {
	text, known := testBooks[name]
	if !known {
		return nil, document.UnknownName(&document.Node{Kind: document.Scalar, Text: name}, "runbook", document.SortedKeys(testBooks))
	}
	return runbook.Parse(name, []byte(strings.ReplaceAll(text, "DIR", h.folder)), action.Generic())
}

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.folder, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// removes takes away what runs have written.
func (h *house) removes(names ...string) {
	h.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(h.folder, name)); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) has(name string) bool {
	_, err := os.Stat(filepath.Join(h.folder, name))
	return err == nil
}

// visitor is somebody with a browser that has no JavaScript.
type visitor struct {
	h      *house
	client *http.Client
}

func (h *house) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &visitor{h, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// entered is one who entered by a code.
func (h *house) entered() *visitor {
	h.t.Helper()
	v := h.visitor()
	if a := v.post("/enter", "code", h.Gate.Code()); a.status != http.StatusSeeOther {
		h.t.Fatalf("entering answers %d", a.status)
	}
	return v
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (v *visitor) do(method, path string, form url.Values, headers ...string) answer {
	v.h.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(v.h.t.Context(), method, v.h.url+path, body)
	if err != nil {
		v.h.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if method != http.MethodGet {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	got, err := v.client.Do(r)
	if err != nil {
		v.h.t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		v.h.t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

func (v *visitor) get(path string, headers ...string) answer {
	v.h.t.Helper()
	return v.do(http.MethodGet, path, nil, headers...)
}

// post sends a form: name, value, name, value.
func (v *visitor) post(path string, fields ...string) answer {
	v.h.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.do(http.MethodPost, path, form)
}

var planHash = regexp.MustCompile(`name="plan" value="([0-9a-f]+)"`)

// begin plans a runbook and begins it as it was planned; it returns the run.
func (v *visitor) begin(book, cluster string, inputs ...string) string {
	v.h.t.Helper()
	fields := append([]string{"runbook", book, "cluster", cluster}, inputs...)
	a := v.post("/plan", fields...)
	found := planHash.FindStringSubmatch(a.body)
	if a.status != http.StatusOK || found == nil {
		v.h.t.Fatalf("planning answers %d: %s", a.status, a.body)
	}
	a = v.post("/runs", append(fields, "plan", found[1])...)
	if a.status != http.StatusSeeOther {
		v.h.t.Fatalf("beginning answers %d: %s", a.status, a.body)
	}
	return strings.TrimPrefix(a.header.Get("Location"), "/runs/")
}

// await waits until a run's status is one of these.
func (h *house) await(run string, status ...string) *journal.State {
	h.t.Helper()
	return h.awaitThat(run, func(st *journal.State) bool { return slices.Contains(status, st.Status()) })
}

// awaitThat waits until something is so of a run.
func (h *house) awaitThat(run string, so func(*journal.State) bool) *journal.State {
	h.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for {
		st, err := h.Runs.State(h.t.Context(), run)
		if err != nil {
			h.t.Fatal(err)
		}
		if so(st) {
			return st
		}
		select {
		case <-tick.C:
		case <-end:
			h.t.Fatalf("run %s is %s; log: %s", run, st.Status(), h.logged)
		}
	}
}

// closedPlan plans what the gate refuses, and returns the plan's hash.
func closedPlan(v *visitor) string {
	v.h.t.Helper()
	page := v.post("/plan", "runbook", "test/asks", "cluster", "prod-orders").body
	found := regexp.MustCompile(`<dd><code>([0-9a-f]{16})</code></dd>`).FindStringSubmatch(page)
	if found == nil {
		v.h.t.Fatalf("no plan on the page: %s", page)
	}
	return found[1]
}

// beginPast begins test/asks past its gate, as the command line can.
func beginPast(t testing.TB, h *house, user, cluster string) string {
	t.Helper()
	book, err := h.runbook("test/asks")
	if err != nil {
		t.Fatal(err)
	}
	as := *h.Runs
	as.User = user
	p, err := as.Prepare(t.Context(), execute.Request{Book: book, Cluster: cluster, Override: "in a test"})
	if err != nil {
		t.Fatal(err)
	}
	run, err := as.Begin(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.turn.start(&as, run, journal.Command{Do: "run"}); err != nil {
		t.Fatal(err)
	}
	return run
}

// trials are results of the report's samples in a folder, and one trial that can be begun: it is told what to do by the test.
func (h *house) trials() Trials {
	return Trials{
		Folder: filepath.Join(h.folder, "results"), Compare: compared, Files: func() []string { return []string{"examples/demo/trial.yaml"} },
		Fates: func(context.Context, []result.Listed) {}, Fate: func(context.Context, *result.Result) {},
		Run: func(ctx context.Context, _ string, _ bool, watch progress.Observer) (string, error) {
			cell := result.Cell{Name: "binlog row + one replica, connections=64", Rounds: 1, Figures: []result.Figure{
				{Metric: "throughput", Unit: "per_second", Estimate: analyze.Estimate{Value: 1234, Low: 1200, High: 1260}}, {Metric: "response_p99", Unit: "ms", Estimate: analyze.Estimate{Value: 5.2, Low: 5, High: 5.5}},
			}}
			watch.Observe(progress.Plan{Trial: "demo", Question: "Does it hold?", Rounds: 1, Left: time.Minute, Cells: []result.Cell{cell}})
			watch.Observe(progress.CellDone{Cell: cell})
			watch.Observe(progress.Stage{Doing: progress.Measuring, Cell: cell.Name, Round: 1, Detail: "baseline", Share: -1})
			start := time.Now().Add(-30 * time.Second)
			watch.Observe(progress.PhaseBegan{Phase: result.Phase{Name: "warmup", Cell: cell.Name, Round: 1, From: start.Add(-20 * time.Second)}, Length: 20 * time.Second})
			watch.Observe(progress.PhaseBegan{Phase: result.Phase{Name: "baseline", Cell: cell.Name, Round: 1, From: start}, Length: time.Minute})
			fares := progress.Generator{Open: true, Late: 230 * time.Microsecond, CapShare: 0.0004, CPUShare: 0.12, Stall: 9 * time.Millisecond, Judged: true}
			for n := range 30 {
				row := result.Row{Time: start.Add(time.Duration(n) * time.Second), Length: time.Second, Cell: cell.Name, Round: 1}
				row.Done = 1000 + 10*int64(n)
				row.Response.P99 = 5 * time.Millisecond
				fares.Seconds++
				watch.Observe(progress.Second{Row: row, Generator: fares})
			}
			for ctx.Err() == nil {
				select {
				case fares.Doubts = <-h.doubts:
					fares.Late = 14200 * time.Microsecond
					watch.Observe(progress.Second{Row: result.Row{Time: start.Add(30 * time.Second), Length: time.Second, Cell: cell.Name, Round: 1, Tally: series.Tally{Done: 900}}, Generator: fares})
				case <-ctx.Done():
				}
			}
			dir := filepath.Join(h.folder, "results", "demo", "1")
			return dir, reporttest.Keep(dir, reporttest.Timeline())
		},
	}
}

// compared is a comparison of any two results.
func compared(first, second *result.Result) (*result.Versus, error) {
	e := analyze.Estimate{Value: 1000, Low: 950, High: 1050}
	return &result.Versus{First: first.Dir, Second: second.Dir, Notes: []string{}, Differences: []result.Difference{
		{Phase: "baseline", Metric: "throughput", Unit: "per_second", First: e, Second: analyze.Estimate{Value: 800, Low: 760, High: 840}, Differs: true,
			Ratio: analyze.JudgedClaim{Estimate: 0.8, Low: 0.75, High: 0.85, Confidence: 0.99}},
	}}, nil
}

// keep writes a sample result into the folder of results.
func (h *house) keep(name string, r *result.Result) {
	h.t.Helper()
	if err := reporttest.Keep(filepath.Join(h.folder, "results", name), r); err != nil {
		h.t.Fatal(err)
	}
}

// watched is a small fleet with something of everything, and curves that are computed.
func watched() Watch {
	at := time.Now()
	channels := []watch.Channel{{Name: "main", Source: "10.0.1.1:3306", Lag: ptr(0)}, {Name: "ext", Source: "10.0.2.1:3306", Lag: ptr(12)}, {Source: "10.0.3.1:3306", Connecting: true}, {Name: "old", Source: "10.0.4.1:3306"}, {Name: "older", Source: "10.0.5.1:3306"}}
	fleet := watch.Fleet{At: at, Alerts: []watch.Alert{
		{Rule: "ReplicaLag", Instance: "orders/n2", Severity: "warning", State: "firing", Summary: "n2 is 42 s behind", Why: "Reads from it are old.", Do: "Look at what it applies.", Runbook: "test/quick", Inputs: "word=FILL_IN", Expr: "plimsoll_replica_lag_seconds > 30", Value: 42, Since: at.Add(-4 * time.Minute)},
		{Rule: "BucketEmpties", Instance: "billing/n1", Severity: "critical", State: "pending", Summary: "its burst bucket is empty in 3 h", Expr: "plimsoll_hours_until_empty < 4", Value: 3, Since: at.Add(-time.Minute)},
	}, Instances: []watch.Instance{
		{Name: "billing/n2", Cluster: "billing", Node: "n2", Address: "10.0.0.8:3306", Environment: "production", Engine: "mysql", Role: "replica", State: watch.Down, Why: "connect: connection refused"},
		{Name: "orders/n1", Cluster: "orders", Node: "n1", Address: "10.0.0.5:3306", Environment: "production", Engine: "mysql", Product: "MariaDB", Version: "11.4.8", Role: "primary", State: watch.Up, Read: at, Cores: 4,
			Load:       &watch.Load{AAS: 5.3, Source: "counters", Waits: []watch.Wait{{Class: "row lock", AAS: 2.1}, {Class: "cpu", AAS: 2}, {Class: "redo", AAS: 1.2}}},
			Throughput: ptr(8421), P99: ptr(0.0183), Connections: ptr(212), MostConns: ptr(500), IO: &watch.IO{IOPS: ptr(2980), Limit: ptr(3000), Censored: true, HoursToDry: ptr(7.5), HoursMargin: 0.2}, Disk: &watch.Disk{Free: ptr(21e9), Total: ptr(100e9)},
			Statements: []watch.Statement{{Digest: "a1", Text: "UPDATE stock SET quantity = quantity - ? WHERE item = ?", Database: "orders", AAS: 2.4, Calls: ptr(410), Average: ptr(0.0058), P99: ptr(0.031), RowsRead: ptr(1)}, {Digest: "b2", Text: "SELECT * FROM orders WHERE customer = ? ORDER BY created DESC LIMIT ?", Database: "orders", AAS: 1.1, Calls: ptr(90), Average: ptr(0.0122), RowsRead: ptr(5210)}},
			Callers:    []watch.Caller{{User: "app", Host: "10.0.3.7", AAS: 4.8}, {User: "report", Host: "10.0.4.1", AAS: 0.5}},
			Sessions:   []watch.Session{{ID: "48211", User: "app", Host: "10.0.3.7", Seconds: 93, Does: "blocks 3 others", Text: "UPDATE customers SET name = ? WHERE id = ?"}},
			Findings:   []watch.Finding{{Code: "performance-schema-off", Text: "performance_schema is off: waits are told from the process list.", Do: "set performance_schema = ON at the next restart"}}},
		{Name: "orders/n2", Cluster: "orders", Node: "n2", Address: "10.0.0.6:3306", Environment: "production", Engine: "mysql", Product: "MariaDB", Version: "11.4.8", Role: "replica", State: watch.Up, Read: at, Cores: 4,
			Load: &watch.Load{AAS: 0.8, Source: "counters", Waits: []watch.Wait{{Class: "read", AAS: 0.5}, {Class: "cpu", AAS: 0.3}}}, Throughput: ptr(1203), Connections: ptr(31), MostConns: ptr(500), Channels: []watch.Channel{{Source: "10.0.0.5:3306", Lag: ptr(42)}},
			Alerts: []watch.Alert{{Rule: "ReplicaLag", Severity: "warning", Since: at.Add(-4 * time.Minute)}}},
		{Name: "demo/n1", Cluster: "demo", Node: "n1", Address: "127.0.0.1:3307", Environment: "lab", Engine: "mysql", Product: "MySQL", Version: "8.4.3", Role: "replica", State: watch.Reduced, Why: "Plimsoll's own queries took 80 ms (p95)", Read: at, Cores: 2, Channels: channels, Load: &watch.Load{AAS: 0.1}, Throughput: ptr(12), Connections: ptr(3), MostConns: ptr(151)},
	}}
	return Watch{
		Fleet: func() watch.Fleet { return fleet },
		Statements: func(_ context.Context, instance string, _, to time.Time) ([]watch.Statement, error) {
			if instance != "orders/n1" || time.Since(to) < 5*time.Minute { // of an earlier period, which somebody chose: another than now
				return nil, nil
			}
			return []watch.Statement{{Digest: "c3", Text: "DELETE FROM carts WHERE touched < ?", Database: "orders", AAS: 4.5}}, nil
		},
		Callers: func(_ context.Context, instance string, _, to time.Time) ([]watch.Caller, error) {
			if instance != "orders/n1" || time.Since(to) < 5*time.Minute {
				return nil, nil
			}
			return []watch.Caller{{User: "janitor", Host: "10.0.9.9", AAS: 4.5}}, nil
		},
		Changes: func(_ string, _, to time.Time) ([]watch.Change, error) {
			return []watch.Change{{At: to.Add(-4 * time.Minute), Instance: "orders", Kind: "setting", What: "innodb_flush_log_at_trx_commit", From: "2", To: "1"}}, nil
		},
		Query: func(_ context.Context, expr string, from, to time.Time, step time.Duration) ([]store.Line, error) {
			names := []map[string]string{{}}
			if strings.Contains(expr, "by (wait)") {
				names = []map[string]string{{"wait": "cpu"}, {"wait": "row lock"}, {"wait": "redo"}}
			}
			if strings.Contains(expr, "by (part)") {
				names = []map[string]string{{"part": "total"}, {"part": "binlog"}, {"part": "queue"}}
			}
			var lines []store.Line
			for n, labels := range names {
				l := store.Line{Labels: labels}
				for at := from; !at.After(to); at = at.Add(step) {
					x := at.Sub(from).Seconds() / to.Sub(from).Seconds()
					if x > 0.3 && x < 0.34 {
						continue // a gap
					}
					l.Points = append(l.Points, store.Point{At: at, Value: 1 + float64(n)/2 + math.Sin(9*x+float64(n)) + 2*max(0, x-0.7)*float64(n)})
				}
				lines = append(lines, l)
			}
			return lines, nil
		},
	}
}

func ptr(v float64) *float64 { return &v }

// advice is given of orders; a look at billing waits until the page closes, and one at any other cluster comes to nothing.
func (h *house) advice() Advice {
	price := func(month float64) advise.Price {
		return advise.Price{Month: month, Low: month, High: month, Currency: "USD", Date: "2026-06-01", Source: "a price list"}
	}
	report := &advise.Report{Cluster: "orders", Node: "n1", At: time.Now().Add(-3 * time.Hour), Region: "us-east-1", Observed: []string{"storage"}, Unknown: []string{"The class of the instance is not known: --class says it."}, Findings: []advise.Finding{{
		About: "storage", Title: "The burst bucket of the volume is empty in 7.5 hours", Urgent: true, Evidence: []string{"2,980 operations a second are asked for, and the volume earns 2,400."},
		Options: []advise.Option{
			{Name: "leave it", Effects: []advise.Effect{{What: "time until the burst ends", Unit: "seconds", Now: 27000, Then: 27000, Low: 21000, High: 36000}}, Price: price(80), Change: price(0), Risk: "Reads and writes slow down", Undo: "nothing"},
			{Name: "gp3 with 4,000 operations a second", Advised: true, Effects: []advise.Effect{{What: "time until the burst ends", Unit: "seconds", Now: 27000, Then: 1e12, Low: 1e12, High: 1e12}}, Price: price(85), Change: price(5), Risk: "The volume is slower while it changes", Undo: "back after six hours", Rehearse: "plimsoll trial run examples/volume/trial.yaml", Do: "plimsoll runbook plan rds/modify-storage --cluster orders"},
		},
	}}}
	return Advice{
		Lasts: 30 * time.Second,
		Latest: func(cluster string) ([]*advise.Report, error) {
			if cluster != "orders" {
				return nil, nil
			}
			return []*advise.Report{report}, nil
		},
		Look: func(ctx context.Context, ask AskedAdvice) error {
			if ask.Class == "" {
				return fmt.Errorf("%s does not answer", ask.Cluster)
			}
			<-ctx.Done()
			return ctx.Err()
		},
	}
}
