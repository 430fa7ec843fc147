// Package live reads the series of one cluster for as long as somebody asks for them: a run whose guardrails name them, a trial whose
// expectations do. It reads the servers itself, by the collectors of a watch, so that it needs no watch beside it and sees no other's gaps.
package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/document"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

// Reader evaluates expressions in PromQL over what the cluster shows now. It remembers what it read since it was opened, for rates.
// Its methods are safe for concurrent use.
type Reader struct {
	watcher *watch.Watcher
	series  *store.Store
	folder  string
	sources func(context.Context) ([]watch.Source, error)
	end     context.CancelFunc
	reading sync.WaitGroup
	shown   shown

	mu     sync.Mutex
	looked time.Time // for nodes that came or went
}

// Value is what an expression comes to now, of one node; of the whole cluster without a node.
type Value struct {
	Node  string
	Value float64
}

// lookEvery is how often it is asked which nodes there are.
const lookEvery = 5 * time.Second

// Open begins to read the instances that sources lists, which is asked again every few seconds for nodes that came or went.
func Open(ctx context.Context, sources func(context.Context) ([]watch.Source, error)) (*Reader, error) {
	all, err := sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch the cluster: %w", err)
	}
	folder, err := os.MkdirTemp("", "plimsoll-live-*")
	if err != nil {
		return nil, fmt.Errorf("watch the cluster: %w", err)
	}
	r := &Reader{folder: folder, sources: sources, looked: time.Now(), shown: shown{by: map[string]map[string]*moment{}}}
	if r.series, err = store.Open(folder, store.Options{}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	r.watcher = watch.New(watch.Config{Sources: all, Keep: r.keep})
	reading, end := context.WithCancel(context.WithoutCancel(ctx)) // it ends by Close
	r.end = end
	r.reading.Go(func() { _ = r.watcher.Run(reading) })
	return r, nil
}

// Close ends the reading. It is called once.
func (r *Reader) Close() error {
	r.end()
	r.reading.Wait()
	return errors.Join(r.series.Close(), os.RemoveAll(r.folder))
}

func (r *Reader) keep(ctx context.Context, samples []watch.Sample) error {
	return r.series.Append(ctx, append(samples, r.shown.take(time.Now(), samples)...))
}

// Read evaluates an expression. Nothing, without an error, is that nothing shows it: an instance that does not answer shows nothing.
func (r *Reader) Read(ctx context.Context, expr string) ([]Value, error) {
	r.look(ctx)
	v, err := r.series.Instant(ctx, expr, time.Now())
	if err != nil {
		return nil, err
	}
	var all []Value
	for _, line := range v.Lines {
		of, _ := r.watcher.Instance(line.Labels["instance"])
		all = append(all, Value{Node: of.Node, Value: line.Points[0].Value})
	}
	return all, nil
}

// Largest evaluates expressions; of several values of one the largest counts. Those that nothing shows are left out.
func (r *Reader) Largest(ctx context.Context, exprs []string) (map[string]float64, error) {
	largest := map[string]float64{}
	for _, expr := range exprs {
		all, err := r.Read(ctx, expr)
		if err != nil {
			return nil, err
		}
		for _, v := range all {
			if before, seen := largest[expr]; !seen || v.Value > before {
				largest[expr] = v.Value
			}
		}
	}
	return largest, nil
}

// Why says why an expression comes to nothing: which series nothing shows, and the one that is shown whose name is nearest.
func (r *Reader) Why(ctx context.Context, expr string) string {
	named, err := store.Named(expr)
	if err != nil {
		return err.Error()
	}
	now := time.Now()
	shown, err := r.series.LabelValues(ctx, "__name__", nil, now.Add(-time.Minute), now)
	if err != nil {
		return err.Error()
	}
	for _, name := range named {
		if slices.Contains(shown, name) {
			continue
		}
		text := "no server has the series " + name
		if near := document.Nearest(name, shown); near != "" {
			text += fmt.Sprintf(" (did you mean %s?)", near)
		}
		return text
	}
	return fmt.Sprintf("watch[%q] has no value now", expr)
}

// look asks now and then which nodes there are. Where that cannot be told, those that were known are read on.
func (r *Reader) look(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) < lookEvery {
		return
	}
	r.looked = time.Now()
	if all, err := r.sources(ctx); err == nil {
		r.watcher.Follow(all)
		_ = r.series.Append(ctx, r.shown.leave(r.looked, all)) // else they end by themselves, minutes later
	}
}
