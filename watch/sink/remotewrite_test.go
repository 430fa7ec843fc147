package sink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/prometheustest"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

func sampleAt(at time.Time, v float64) watch.Sample {
	return watch.Sample{Name: "plimsoll_aas", At: at, Value: v, Labels: []watch.Label{{Name: "wait", Value: "cpu"}, {Name: "instance", Value: "a/n1"}}}
}

func TestSamplesWaitWhileTheStoreIsGone(t *testing.T) {
	w := &RemoteWrite{URL: "http://127.0.0.1:1/write"}
	if err := w.Append(t.Context(), []watch.Sample{sampleAt(time.Now(), 1)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(t.Context()); err == nil || len(w.waiting) != 1 {
		t.Errorf("%v, %d wait", err, len(w.waiting))
	}
}

func TestWritesIntoARealPrometheus(t *testing.T) {
	program, folder := prometheustest.Program(t, "prometheus"), t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func() (end func()) {
		t.Helper()
		server := exec.CommandContext(t.Context(), program, "--config.file="+config, "--storage.tsdb.path="+folder+"/data", "--web.listen-address="+address, "--web.enable-remote-write-receiver")
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		return sync.OnceFunc(func() {
			_ = server.Process.Kill() // as a machine that fails ends it
			_ = server.Wait()
		})
	}
	end := begin()
	defer func() { end() }()
	w := &RemoteWrite{URL: "http://" + address + "/api/v1/write"}
	now := time.Now().Add(-10 * time.Second) // no sample is of a time to come, however fast it goes
	var all []watch.Sample
	for n := range 12000 {
		all = append(all, sampleAt(now.Add(time.Duration(n-12000)*10*time.Millisecond), float64(n)))
	}
	if err := w.Append(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	arrive := func() {
		t.Helper()
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for range 100 {
			<-tick.C
			if err = w.Flush(t.Context()); err == nil {
				return
			}
		}
		t.Fatal(err)
	}
	holds := func(when, want string) {
		t.Helper()
		answer, err := http.Get(fmt.Sprintf("http://%s/api/v1/query?query=count_over_time(plimsoll_aas{instance=%%22a/n1%%22}[10m])", address))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }() // it was only read
		if body, _ := io.ReadAll(answer.Body); !strings.Contains(string(body), `"`+want+`"`) {
			t.Errorf("%s Prometheus has %s, not %s", when, body, want)
		}
	}
	arrive()
	holds("at first", "12000")
	// While it is gone samples wait, in more than one batch; when it is back they arrive, each once, beside those it had.
	end()
	all = all[:0]
	for n := range 7000 {
		all = append(all, sampleAt(now.Add(time.Duration(n+1)*time.Millisecond), float64(n)))
	}
	for half := range slices.Chunk(all, 3500) {
		if err := w.Append(t.Context(), half); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(t.Context()); err == nil {
			t.Fatal("a Prometheus that is gone has taken samples")
		}
	}
	end = begin()
	arrive()
	holds("after it was gone", "19000")
	if len(w.waiting) != 0 || w.dropped != 0 {
		t.Errorf("%d samples wait still, and %d are lost", len(w.waiting), w.dropped)
	}
	// The end of a series ends it there too.
	shown := func() string {
		t.Helper()
		answer, err := http.Get("http://" + address + "/api/v1/query?query=plimsoll_aas")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }() // it was only read
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if is := shown(); !strings.Contains(is, "a/n1") {
		t.Fatalf("before the end Prometheus shows %s", is)
	}
	if err := errors.Join(w.Append(t.Context(), []watch.Sample{sampleAt(time.Now().Add(-time.Millisecond), store.Ended())}), w.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if is := shown(); strings.Contains(is, "a/n1") || !strings.Contains(is, "success") {
		t.Errorf("after the end Prometheus shows %s", is)
	}
}
