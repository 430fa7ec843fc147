package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/collect"
)

// How long a watch is looked at, once the server is in distress.
const (
	distressBegins = 5 * time.Second
	distressLasts  = 60 * time.Second
	distressCores  = 2
)

// watchDistress has many threads run on a server, which either all wait for one row or all compute, and says how often the watch reads it, how long its
// queries take, and what they cost the server.
func watchDistress(ctx context.Context, o options) error {
	fmt.Print("| server | sessions | read | not polled | no answer | p95 of the watch's queries, where it is known | ms of the server's processor a second |\n|---|---|---|---|---|---|---|\n")
	for _, product := range []struct{ name, schema string }{{"mariadb", "OFF"}, {"mysql", "ON"}} {
		for _, how := range []struct {
			what, text string
			sessions   int
		}{
			{"wait for a row", waitForRow, 200},
			{"compute", "SELECT BENCHMARK(1000000000, SHA2('x', 512))", 64},
		} {
			if err := o.distressOf(ctx, product.name, product.schema, how.what, how.text, how.sessions); err != nil {
				return fmt.Errorf("%s, %s: %w", product.name, how.what, err)
			}
		}
	}
	return nil
}

func (o options) distressOf(ctx context.Context, product, schema, what, text string, sessions int) (err error) {
	target, release, err := o.server(ctx, lab.Spec{Name: "bench", Product: product, Config: map[string]string{"innodb_buffer_pool_size": "256M", "performance_schema": schema, "max_connections": "500", "innodb_lock_wait_timeout": "3600"}})
	if err != nil {
		return err
	}
	defer release()
	server, err := processOf(ctx, target)
	if err != nil {
		return err
	}
	all, err := connect(ctx, target, sessions+1)
	if err != nil {
		return err
	}
	holds := all[0]
	for _, sql := range heldRow {
		if err := holds.Exec(ctx, sql, nil); err != nil {
			return errors.Join(err, closeAll(all))
		}
	}
	e, err := catalog.EngineOf(target)
	if err != nil {
		return err
	}
	costs := &queryCosts{by: map[string]*queryCost{}}
	readers := collect.MySQL(func(ctx context.Context) (engine.Session, error) {
		return server.dialCounted(ctx, e.(engine.Dialer), costs)
	}, distressCores)
	w := watch.New(watch.Config{Sources: []watch.Source{{Instance: watch.Instance{Name: "bench/n1", Cluster: "bench", Engine: "mysql"}, Collectors: readers[:1]}}})
	watching, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(watching) }) // it ends with watching
	defer func() {
		end()
		for _, s := range all {
			s.Interrupt()
		}
		running.Wait()
		_ = closeAll(all) // they were cut off
	}()
	if err := poll.Rest(ctx, 2*time.Second); err != nil {
		return err
	}
	for _, s := range all[1:] {
		running.Go(func() { _ = s.Exec(ctx, text, nil) }) // it is cut off at the end
	}
	if err := poll.Rest(ctx, distressBegins); err != nil {
		return err
	}
	states := map[watch.State]int{}
	var p95 []float64
	looks := 0
	before, began := costs.sum(), time.Now()
	for time.Since(began) < distressLasts {
		i, _ := w.Instance("bench/n1")
		states[i.State]++
		looks++
		if i.Watching.P95 > 0 { // else of too few queries
			p95 = append(p95, i.Watching.P95)
		}
		if err := poll.Rest(ctx, time.Second); err != nil {
			return err
		}
	}
	took := (costs.sum() - before).Seconds() * 1000 / time.Since(began).Seconds()
	slow := "not known"
	if slices.Sort(p95); len(p95) > 0 {
		slow = fmt.Sprintf("%.0f ms, at most %.0f ms", 1000*p95[len(p95)/2], 1000*p95[len(p95)-1])
	}
	read, paused := states[watch.Reduced]+states[watch.Up], states[watch.Paused]
	fmt.Printf("| %s | %d that %s | %d of %d s | %d s | %d s | %s | %.2f |\n", product, sessions, what, read, looks, paused, looks-read-paused, slow, took)
	return nil
}
