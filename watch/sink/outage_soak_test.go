package sink

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"plimsoll/internal/poll"
)

// outageLasts is how long OpenSearch is away in make soak.
const outageLasts = 10 * time.Minute

// Ten minutes without OpenSearch, while documents come all the time, with a restart of ours in the middle of them: when it is back, every document is
// there, and none is there twice. make soak runs it; goesAndComesBack is the same in seconds, with a spool that fills up.
func TestSoakTenMinutesWithoutOpenSearch(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes eleven minutes: make soak")
	}
	s := newRealSearch(t)
	folder := t.TempDir()
	o := opensearch(t, s.url, folder, 1<<30)
	count := 0
	// stretch has documents come for a time, as a fleet of five hundred instances writes them, and sends them meanwhile.
	stretch := func(d time.Duration) (sending error) {
		running, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- o.Run(running) }()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(d); time.Now().Before(end); <-tick.C {
			for range 5 {
				o.Add(document(count))
				count++
			}
		}
		stop()
		return <-ended
	}
	_ = stretch(20 * time.Second) // what it cannot send within its last three seconds waits
	if sent, _, _ := o.Counts(); sent == 0 {
		t.Fatal("nothing was sent before the outage")
	}
	o = opensearch(t, s.url, folder, 1<<30)
	s.kill()
	gone := time.Now()
	for range 2 {
		if err := stretch(outageLasts / 2); err == nil {
			t.Error("it ended well, and OpenSearch was gone")
		}
		o = opensearch(t, s.url, folder, 1<<30) // another process of ours, on what that one left
	}
	t.Logf("OpenSearch was gone for %s, and %d documents were written until then", time.Since(gone).Round(time.Second), count)
	s.start()
	_ = stretch(20 * time.Second)
	o = opensearch(t, s.url, folder, 1<<30)
	limited, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := poll.Try(limited, time.Second, func() error { return o.Flush(limited) }); err != nil {
		t.Fatal(err)
	}
	if _, dropped, rejected := o.Counts(); dropped+rejected > 0 {
		t.Errorf("%d dropped, %d rejected", dropped, rejected)
	}
	var answer struct {
		Aggregations struct {
			N struct{ Count, Sum, Min, Max float64 }
		}
	}
	if err := o.ask(t.Context(), http.MethodPost, "/plimsoll-watch/_refresh", "application/json", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := o.ask(t.Context(), http.MethodPost, "/plimsoll-watch/_search", "application/json", []byte(`{"size":0,"aggs":{"n":{"stats":{"field":"n"}}}}`), &answer); err != nil {
		t.Fatal(err)
	}
	if n, all := answer.Aggregations.N, float64(count); n.Count != all || n.Min != 0 || n.Max != all-1 || n.Sum != all*(all-1)/2 {
		t.Errorf("there are %+v, want each of %d once", n, count)
	}
}
