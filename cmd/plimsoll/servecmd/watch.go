package servecmd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/watchcmd"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/settings"
	"plimsoll/web"
)

// servedWatch runs a watch of the inventory and the labs for the page until ctx ends; ended waits for that. What is to be watched may come
// later: it is looked for as often as every says. Where another process watches from this state folder, the page says why. Notices lead to the address of the page.
func servedWatch(ctx context.Context, deps lab.Deps, address string, every time.Duration, log *slog.Logger) (w web.Watch, ended func() error, err error) {
	ended = func() error { return nil }
	inv, err := inventory.Open()
	if err != nil {
		return w, ended, err
	}
	set, err := settings.Read(settings.File)
	if err != nil {
		return w, ended, err
	}
	set.Address = cmp.Or(set.Address, address)
	find := &watchcmd.Finder{Deps: deps, Set: set, Log: log}
	sources, err := find.Find(ctx, inv)
	if nothing := (console.UsageError{}); err != nil && !errors.As(err, &nothing) { // where there is nothing, the page says what to do, and looks for it again
		return web.Watch{Why: err.Error()}, ended, nil //nolint:nilerr // the page says it: the rest of it works
	}
	s, err := watchcmd.OpenService(ctx, sources, set, deps, log)
	if err != nil {
		return servedFleet(ctx, sources, log, err)
	}
	var all sync.WaitGroup
	all.Go(func() { _ = s.Run(ctx) }) // it ends with ctx
	all.Go(func() { find.Rediscover(ctx, every, s.Follow) })
	w = web.Watch{Fleet: s.Watcher.Fleet, Query: s.Series.Query, Statements: s.Statements, Callers: s.Callers, Prometheus: s.Handler(), Marks: s.Marks()}
	w.Changes = func(instance string, from, to time.Time) ([]watch.Change, error) {
		return s.Changes.Between(instance, from, to)
	}
	return w, func() error {
		all.Wait()
		return s.Close()
	}, nil
}

// servedFleet is the picture alone: what is seen cannot be kept, for a reason that the page shows.
func servedFleet(ctx context.Context, sources []watch.Source, log *slog.Logger, why error) (web.Watch, func() error, error) {
	watcher := watch.New(watch.Config{Sources: sources, Log: log})
	var all sync.WaitGroup
	all.Go(func() { _ = watcher.Run(ctx) }) // it ends with ctx
	w := web.Watch{Fleet: watcher.Fleet, Why: "observations are not stored, so there are no curves and no alerts: " + why.Error()}
	return w, func() error { all.Wait(); return nil }, nil
}
