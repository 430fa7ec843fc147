package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/watch"
)

// bulkServer takes documents as OpenSearch does: one of an id that it has is a conflict, one with the text "bad" is rejected.
type bulkServer struct {
	mu       sync.Mutex
	has      map[string]string
	down     bool
	busy     int      // so many documents are refused for now
	asked    []string // what it was asked beside documents, and the first bulk of each flush
	policies int      // the status with which it answers a policy; 0: as one that has them
}

func (b *bulkServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch {
	case b.down:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case !strings.HasSuffix(r.URL.Path, "/_bulk"):
		b.asked = append(b.asked, r.Method+" "+r.URL.Path)
		if strings.HasPrefix(r.URL.Path, "/_plugins/_ism/policies/") && b.policies != 0 {
			w.WriteHeader(b.policies)
		}
		return
	}
	b.asked = append(b.asked, "bulk")
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	var items []string
	for n := 0; n+1 < len(lines); n += 2 {
		status := 201
		switch _, is := b.has[lines[n]]; {
		case is:
			status = 409
		case b.busy > 0:
			status = 429
			b.busy--
		case strings.Contains(lines[n+1], "bad"):
			status = 400
		default:
			b.has[lines[n]] = lines[n+1]
		}
		items = append(items, fmt.Sprintf(`{"create":{"status":%d}}`, status))
	}
	fmt.Fprintf(w, `{"errors":false,"items":[%s]}`, strings.Join(items, ","))
}

func document(n int) watch.Document {
	return watch.Document{At: time.Unix(1700000000, 0).Add(time.Duration(n) * time.Second), Fields: map[string]any{"n": n, "instance": "a/n1"}}
}

func opensearch(t testing.TB, url, folder string, limit int64) *OpenSearch {
	t.Helper()
	o, err := NewOpenSearch(OpenSearchConfig{URL: url, Stream: "plimsoll-watch", Keep: time.Hour, Folder: folder, Spool: limit})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// An outage, a restart of ours in the middle of it, an answer that was lost, and an hour in which some are refused: nothing is lost
// and nothing is there twice.
func TestNothingIsLostAndNothingTwice(t *testing.T) {
	b := &bulkServer{has: map[string]string{}, down: true}
	server := httptest.NewServer(b)
	defer server.Close()
	folder := t.TempDir()
	o := opensearch(t, server.URL, folder, 1<<20)
	for n := range 500 {
		o.Add(document(n))
	}
	if err := o.Flush(t.Context()); err == nil {
		t.Fatal("a server that is down took documents")
	}
	o = opensearch(t, server.URL, folder, 1<<20) // without a word, as after kill -9
	for n := range 500 {
		o.Add(document(500 + n))
	}
	o.Add(watch.Document{At: time.Now(), Fields: map[string]any{"n": "bad"}})
	b.mu.Lock()
	b.down, b.busy = false, 7
	b.mu.Unlock()
	files, err := o.spool.waiting()
	if err != nil || len(files) != 2 {
		t.Fatalf("%v wait, %v", files, err)
	}
	first, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err = o.Flush(t.Context()); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], append(first, "{\"create\":{\"_id"...), 0o600); err != nil { // a crash before the file was removed
		t.Fatal(err)
	}
	if err := o.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[float64]int{}
	for _, body := range b.has {
		var d map[string]any
		if err := json.Unmarshal([]byte(body), &d); err != nil {
			t.Fatal(err)
		}
		seen[d["n"].(float64)]++
	}
	if len(seen) != 1000 || len(b.has) != 1000 {
		t.Errorf("%d documents of which %d differ, want 1000", len(b.has), len(seen))
	}
	if _, _, rejected := o.Counts(); rejected != 1 {
		t.Errorf("%d rejected, want 1", rejected)
	}
	if aside, err := os.ReadFile(filepath.Join(folder, rejectedFile)); err != nil || !strings.Contains(string(aside), "bad") {
		t.Errorf("put aside: %s, %v", aside, err)
	}
	if files, _ := o.spool.waiting(); len(files) != 0 {
		t.Errorf("%v wait still", files)
	}
}

func TestAFullSpoolDropsAndCounts(t *testing.T) {
	var said strings.Builder
	o, err := NewOpenSearch(OpenSearchConfig{URL: "http://127.0.0.1:1", Stream: "plimsoll-watch", Folder: t.TempDir(), Spool: 10_000, Log: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		o.Add(document(n))
	}
	_, dropped, _ := o.Counts()
	if dropped < 500 || dropped > 950 || o.spool.size > 10_000 {
		t.Errorf("%d dropped, %d bytes", dropped, o.spool.size)
	}
	if err := o.spool.add(document(1)); !errors.Is(err, errFull) {
		t.Errorf("said %v", err)
	}
	if text := said.String(); strings.Count(text, "spool a document for OpenSearch") != 1 || !strings.Contains(text, errFull.Error()) {
		t.Errorf("of five hundred documents that were dropped the log says once why: %s", text)
	}
}

// The policy is attached once there is something to attach it to, also where the policy was there before; and where the server has no
// policies, nobody attaches any.
func TestThePolicyIsAttachedToWhatWasWritten(t *testing.T) {
	const template, policy, attach = "PUT /_index_template/plimsoll-watch", "PUT /_plugins/_ism/policies/plimsoll-watch", "POST /_plugins/_ism/add/plimsoll-watch"
	for name, c := range map[string]struct {
		policies int
		want     []string
	}{
		"the first time":        {0, []string{template, policy, "bulk", attach, "bulk"}},
		"the policy is there":   {http.StatusConflict, []string{template, policy, "bulk", attach, "bulk"}},
		"a server without them": {http.StatusBadRequest, []string{template, policy, "bulk", "bulk"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bulkServer{has: map[string]string{}, policies: c.policies}
			server := httptest.NewServer(b)
			defer server.Close()
			o := opensearch(t, server.URL, t.TempDir(), 1<<20)
			if err := o.Flush(t.Context()); err != nil { // nothing was written yet: there is no stream
				t.Fatal(err)
			}
			for n := range 2 {
				o.Add(document(n))
				if err := o.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(b.asked, c.want) {
				t.Errorf("it was asked %q, want %q", b.asked, c.want)
			}
			o.attached = time.Now().Add(-attachEvery)
			o.Add(document(2))
			if err := o.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if again := b.asked[len(b.asked)-1] == attach; again != slices.Contains(c.want, attach) {
				t.Errorf("after an hour, and a rollover: %q", b.asked)
			}
		})
	}
}
