package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

// shardInstances are watched by one process, and by several that share them out.
const shardInstances = 60

// watchShards says what each process takes when instances are shared out, all of them sending to one store.
func watchShards(ctx context.Context, o options) error { return o.onRecorded(ctx, o.shardsOn) }

func (o options) shardsOn(ctx context.Context, folder string, target engine.Target) error {
	fmt.Print("| processes | instances of each | a core of each, its start included | together | bytes a second to the store |\n|---|---|---|---|---|\n")
	for _, processes := range []int{1, 2, 4} {
		own := filepath.Join(folder, fmt.Sprint(processes))
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		if err := o.shared(ctx, own, target, processes); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

func (o options) shared(ctx context.Context, folder string, target engine.Target, processes int) error {
	var bytes atomic.Int64
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bytes.Add(max(r.ContentLength, 0))
		w.WriteHeader(http.StatusNoContent)
	}))
	defer store.Close()
	var all []watchedProcess
	var counts, shares []string
	begun := time.Now()
	for n := range processes {
		set := settings.Settings{Shard: fmt.Sprintf("%d/%d", n+1, processes)}
		own := filepath.Join(folder, fmt.Sprint(n))
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		w, err := o.watchNamed(ctx, own, target, shardInstances, fmt.Sprintf("shard: %s\nshipped_rules: false\nremote_write: [{url: %q}]\n", set.Shard, store.URL))
		if err != nil {
			return err
		}
		all, counts = append(all, w), append(counts, fmt.Sprint(len(set.Mine(shardSources()))))
	}
	select {
	case <-time.After(3 * time.Duration(o.seconds) * time.Second):
	case <-ctx.Done():
	}
	took := time.Since(begun).Seconds()
	var errs []error
	total := 0.0
	for _, w := range all {
		errs = append(errs, w.stop())
		share := used(w.cmd).Seconds() / took
		total, shares = total+share, append(shares, fmt.Sprintf("%.1f %%", 100*share))
	}
	fmt.Printf("| %d | %s | %s | %.1f %% | %.0f |\n", processes, strings.Join(counts, ", "), strings.Join(shares, ", "), 100*total, float64(bytes.Load())/took)
	return errors.Join(errs...)
}

func shardSources() (all []watch.Source) {
	for n := range shardInstances {
		all = append(all, watch.Source{Instance: watch.Instance{Name: clusterNamed(n) + "/n1"}})
	}
	return all
}
