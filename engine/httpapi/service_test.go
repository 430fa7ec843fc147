package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"plimsoll/engine"
)

var _ http.Handler = (*shop)(nil)

// shop is a service of net/http that keeps rows and remembers what it was asked.
type shop struct {
	mu    sync.Mutex
	there bool
	rows  map[string]json.RawMessage
	last  asked
}

type asked struct {
	method, path, query, body string
	header                    http.Header
}

const (
	user     = "clerk"
	password = "pass:word"
)

func newShop(t testing.TB) (*shop, *httptest.Server) {
	s := &shop{rows: map[string]json.RawMessage{}}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(t.Output(), "", 0)
	t.Cleanup(server.Close)
	return s, server
}

func targetOf(server *httptest.Server) engine.Target {
	u, _ := url.Parse(server.URL)
	return engine.Target{Engine: u.Scheme, Addresses: []string{u.Host}, Namespace: "api/v1", User: user, Password: password}
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = asked{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header}
	if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Server", "shop/1.0")
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v1")
	if !ok {
		http.NotFound(w, r)
		return
	}
	id, isRow := strings.CutPrefix(path, "/rows/")
	switch {
	case path == "/table" && r.Method == "PUT":
		s.there = true
		w.WriteHeader(http.StatusNoContent)
	case path == "/table" && r.Method == "DELETE":
		s.there = false
		clear(s.rows)
	case isRow && r.Method == "PUT":
		s.rows[id] = body
		w.WriteHeader(http.StatusCreated)
	case isRow && s.rows[id] != nil:
		_, _ = w.Write(s.rows[id])
	case path == "/rows" && s.there:
		for range 3 { // in pieces, of which the length is not known before
			fmt.Fprintf(w, "%d rows\n", len(s.rows))
			w.(http.Flusher).Flush()
		}
	case strings.HasPrefix(path, "/status/"):
		var status int
		_, _ = fmt.Sscan(strings.TrimPrefix(path, "/status/"), &status)
		http.Error(w, "for  \n a reason", status)
	case path == "/close":
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "bye")
	case path == "/early":
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "late")
	default:
		http.NotFound(w, r)
	}
}

func (s *shop) asked() asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// open opens the shop's database and a session.
func open(t testing.TB, server *httptest.Server) (engine.Database, engine.Session) {
	t.Helper()
	target := targetOf(server)
	db, err := Engine{Secure: target.Engine == "https"}.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return db, session
}
