package custom

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/httpapi"
	"plimsoll/workload/internal/making"
	"plimsoll/workload/internal/recorder"
)

// The example runs against a service of net/http that answers as SingleStore's Data API is documented to; it is not one.
func TestRequestsReachAService(t *testing.T) {
	var mu sync.Mutex
	asked := map[string][]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "app" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Method == "HEAD" {
			return
		}
		var q struct {
			SQL, Database string
			Args          []any
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Database != "shop" || strings.Count(q.SQL, "?") != len(q.Args) {
			http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path] = append(asked[r.URL.Path], q.Args[0])
		_, _ = io.WriteString(w, `{"results":[{"rows":[]}]}`)
	}))
	defer server.Close()
	text, err := os.ReadFile("../../examples/workloads/data-api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(server.URL)
	db, err := httpapi.Engine{}.Open(t.Context(), engine.Target{Addresses: []string{u.Host}, User: "app", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := of(t, httpapi.Engine{}, string(text), "rows: {orders: 50}")
	if err := w.Prepare(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Adopt(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	c := making.Connect(t, w, db, 1, 0)
	for operation := range 2 {
		for range 10 {
			if err := c.Do(t.Context(), operation); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Cleanup(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if rows := asked["/api/v2/query/rows"]; len(rows) != 10 || rows[0].(float64) < 1 || rows[0].(float64) > 50 {
		t.Errorf("looked at %v", rows)
	}
	if rows := asked["/api/v2/exec"]; len(rows) != 10 || rows[0].(float64) != 51 || rows[9].(float64) != 60 {
		t.Errorf("placed %v", rows)
	}
	if len(asked) != 2 {
		t.Errorf("asked for %d paths", len(asked))
	}
}

func TestRequestText(t *testing.T) {
	w := of(t, httpapi.Engine{}, `
workload: w
operations:
  put:
    with: {id: uniform 1..9, name: text 3}
    request:
      - method: PUT
        path: /x/:id?name=:name&at=12:30
        headers: {X-For: "<:name>"}
        body: {":name": :id, "quoted?": "a \"b\" :name, c::d", list: [1, "1", yes, true, null, 1.50, ":name"], none: {}, empty: []}
        expect: [200, 404]
      - path: /plain
      - {path: /text, body: "id=:id?"}
`, "")
	var texts []string
	for _, s := range w.operations[0].statements {
		texts = append(texts, s.text)
	}
	want := []string{
		"PUT /x/???name=?&at=12:30 200,404\nX-For: <?>\n\n" +
			`{":name": ?, "quoted??": "a \"b\" ?, c:d", "list": [1, "1", "yes", true, null, 1.50, ?], "none": {}, "empty": []}`,
		"GET /plain\n\n",
		"POST /text\n\nid=???",
	}
	for i := range want {
		if i >= len(texts) || texts[i] != want[i] {
			t.Errorf("request %d:\n%s\nwant\n%s", i, texts[i], want[i])
		}
	}
	if args := w.operations[0].statements[0].args; fmt.Sprint(args) != "[0 1 1 0 1 1]" {
		t.Errorf("parameters %v", args)
	}
}

func TestRefusedRequests(t *testing.T) {
	sql := sqlEngine{&recorder.Recorder{}}
	const head = "workload: w\noperations:\n  a:\n    with: {id: uniform 1..9}\n    "
	for _, c := range []struct {
		e          engine.Engine
		text, want string
	}{
		{httpapi.Engine{}, "request: {path: x/:id}", "begins with /"},
		{httpapi.Engine{}, "request: {path: '/x y/:id'}", "a blank"},
		{httpapi.Engine{}, "request: {path: /:ip}", "no value for :ip"},
		{httpapi.Engine{}, "request: {path: /x}", "no statement of a takes :id"},
		{httpapi.Engine{}, "request: {pth: /:id}", `unknown key "pth"`},
		{httpapi.Engine{}, "request: {path: /:id, method: get}", `method "get"`},
		{httpapi.Engine{}, "request: {path: /:id, expect: 20}", "expected a status"},
		{httpapi.Engine{}, "request: {path: /:id, headers: [a]}", "expected headers by their names"},
		{httpapi.Engine{}, "request: []", "no request"},
		{httpapi.Engine{}, "run: SELECT :id", "takes requests"},
		{sql, "request: {path: /:id}", "takes statements"},
		{sql, "{run: SELECT :id, request: {path: /:id}}", "mapping"},
	} {
		if _, err := try(t, c.e, "w.yaml", head+c.text+"\n", ""); err == nil || !strings.Contains(err.Error(), c.want) && c.want != "mapping" {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}
