package sink

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/prompb"

	"plimsoll/engine"
	"plimsoll/internal/poll"
	"plimsoll/watch"
)

// RemoteWrite sends samples to a store that takes Prometheus' remote write, version 1. While it does not answer, samples wait in
// memory, up to a bound: what is kept for longer is kept in the own store.
type RemoteWrite struct {
	URL      string
	User     string
	Password engine.Secret
	Log      *slog.Logger

	mu      sync.Mutex
	waiting []watch.Sample
	dropped uint64
}

const (
	mostWaiting = 500_000 // samples: some minutes of a few hundred instances
	mostAtOnce  = 5_000
)

// Append takes samples; it never fails. The oldest are dropped where there are too many.
func (w *RemoteWrite) Append(_ context.Context, samples []watch.Sample) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, samples...)
	if over := len(w.waiting) - mostWaiting; over > 0 {
		w.waiting = slices.Delete(w.waiting, 0, over)
		w.dropped += uint64(over)
	}
	return nil
}

// Run sends every second until ctx ends.
func (w *RemoteWrite) Run(ctx context.Context) {
	everySecond(ctx, w.Flush, func(err error) {
		if w.Log != nil {
			w.Log.Warn("remote write: samples wait", "error", err)
		}
	})
}

// everySecond sends what waits until ctx ends: after an error less and less often, down to every 30 s, and tells of each.
func everySecond(ctx context.Context, flush func(context.Context) error, tell func(error)) {
	for pause := time.Second; ctx.Err() == nil; {
		if err := flush(ctx); err != nil && ctx.Err() == nil {
			tell(err)
			pause = min(2*pause, 30*time.Second)
		} else {
			pause = time.Second
		}
		_ = poll.Rest(ctx, pause) // it ends with ctx
	}
}

// Flush sends what waits. Samples that the store refuses for what they are (status 4xx but 429) are gone.
func (w *RemoteWrite) Flush(ctx context.Context) error {
	for {
		w.mu.Lock()
		batch := slices.Clone(w.waiting[:min(len(w.waiting), mostAtOnce)])
		before := w.dropped
		w.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		retry, err := w.send(ctx, batch)
		if err != nil && retry {
			return err
		}
		w.mu.Lock()
		gone := max(len(batch)-int(w.dropped-before), 0) // the rest was dropped meanwhile
		w.waiting = slices.Delete(w.waiting, 0, gone)
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func (w *RemoteWrite) send(ctx context.Context, batch []watch.Sample) (retry bool, err error) {
	request := prompb.WriteRequest{Timeseries: make([]prompb.TimeSeries, len(batch))}
	for n, s := range batch {
		labels := make([]prompb.Label, 0, len(s.Labels)+1)
		labels = append(labels, prompb.Label{Name: "__name__", Value: s.Name})
		for _, l := range s.Labels {
			if l.Value != "" {
				labels = append(labels, prompb.Label{Name: l.Name, Value: l.Value})
			}
		}
		slices.SortFunc(labels, func(a, b prompb.Label) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
		request.Timeseries[n] = prompb.TimeSeries{Labels: labels, Samples: []prompb.Sample{{Timestamp: s.At.UnixMilli(), Value: s.Value}}}
	}
	data, err := request.Marshal()
	if err != nil {
		return false, fmt.Errorf("write samples: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(snappy.Encode(nil, data)))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "snappy")
	r.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	if w.User != "" {
		r.SetBasicAuth(w.User, string(w.Password))
	}
	answer, err := client.Do(r)
	if err != nil {
		return true, err
	}
	defer func() { _ = answer.Body.Close() }() // its status says it all
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	return answer.StatusCode/100 == 5 || answer.StatusCode == http.StatusTooManyRequests, fmt.Errorf("the store answered %s", answer.Status)
}
