package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/watch/store"
)

// Our own query API answers every expression of the dashboards for Grafana, as Grafana would send it.
func TestDashboardsAskWhatIsAnswered(t *testing.T) {
	st, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	api := (&API{Store: st}).Handler()
	files, err := filepath.Glob("../../examples/dashboards/grafana/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	uids := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			UID        string
			Title      string
			Templating struct {
				List []struct{ Name, Definition string }
			}
			Panels []struct {
				ID      int
				Title   string
				GridPos struct{ X, W int }
				Targets []struct {
					Expr    string
					Instant bool
				}
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if other := uids[d.UID]; d.UID == "" || other != "" {
			t.Errorf("%s has the uid of %s", file, other)
		}
		uids[d.UID] = file
		ids := map[int]bool{}
		for _, p := range d.Panels {
			if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
				t.Errorf("%s: panel %d, %s", file, p.ID, p.Title)
			}
			ids[p.ID] = true
			for _, target := range p.Targets {
				expr := strings.NewReplacer("$__rate_interval", "1m", "$instance", "orders/n1", "$cluster", "orders|.*").Replace(target.Expr)
				path, form := "/api/v1/query_range", url.Values{"query": {expr}, "start": {"1700000000"}, "end": {"1700003600"}, "step": {"15"}}
				if target.Instant {
					path, form = "/api/v1/query", url.Values{"query": {expr}, "time": {"1700000000"}}
				}
				if strings.Contains(expr, "$") {
					t.Errorf("%s: %s: what is left of %s", file, p.Title, expr)
				}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				w := httptest.NewRecorder()
				api.ServeHTTP(w, r)
				if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"status":"success"`) {
					t.Errorf("%s: %s: %s is answered %d %s", file, p.Title, expr, w.Code, w.Body)
				}
			}
		}
	}
}
