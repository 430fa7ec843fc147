package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/inventory"
	"plimsoll/report/fleet"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

type watchOptions struct {
	labs       []string
	config     string
	listen     string
	once, json bool
	quiet      bool
}

func newWatch(c console) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "watch [CLUSTER...]",
		Short: "Watch the fleet: what it waits for, and what will run out",
		Long: `Read every instance of plimsoll.yaml and of the running lab clusters once a second, and show the fleet, worst first; or only the
clusters that you name. The readings are kept in $PLIMSOLL_HOME/watch. Alert rules are evaluated on them, and alerts go to the receivers in watch.yaml.`,
		Example: `  plimsoll watch
  plimsoll watch orders --once --json
  plimsoll watch --lab demo
  plimsoll watch --quiet --listen 127.0.0.1:9633`,
		Args:              cobra.ArbitraryArgs,
		RunE:              func(cmd *cobra.Command, args []string) error { return runWatch(cmd.Context(), c, args, o) },
		ValidArgsFunction: completeClusters,
	}
	cmd.Flags().StringArrayVar(&o.labs, "lab", nil, "this lab cluster; may be repeated")
	cmd.Flags().StringVar(&o.config, "config", settings.File, "settings file of the watch")
	cmd.Flags().StringVar(&o.listen, "listen", "", "serve Grafana and Prometheus at this address (/api/v1 and /metrics), such as 127.0.0.1:9633")
	cmd.Flags().BoolVar(&o.once, "once", false, "read for three seconds, print the fleet and exit")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON: one line per second, or one document with --once")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "no screen: only record, evaluate rules and send alerts")
	cmd.AddCommand(newWatchChanges(c), newWatchExport(c), newWatchMark(c), newWatchSilence(c), newWatchTestRules(c))
	return cmd
}

func runWatch(ctx context.Context, c console, names []string, o watchOptions) error {
	deps, err := labDeps()
	if err != nil {
		return err
	}
	inv, err := inventory.Open()
	if err != nil {
		return err
	}
	for _, name := range o.labs {
		names = append(names, labPrefix+name)
	}
	set, err := settings.Read(o.config)
	if err != nil {
		return err
	}
	find := &finder{names: names, deps: deps, set: set, log: newLog(c)}
	sources, err := find.find(ctx, inv)
	if err != nil {
		return err
	}
	if o.once {
		return watchOnce(ctx, c, sources, o)
	}
	return watchOn(ctx, c, sources, find, o)
}

// watchOnce reads long enough for rates, and prints.
func watchOnce(ctx context.Context, c console, sources []watch.Source, o watchOptions) error {
	w := watch.New(watch.Config{Sources: sources})
	reading, cancel := context.WithTimeout(ctx, 3200*time.Millisecond)
	defer cancel()
	if err := w.Run(reading); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.json {
		return jsonTo(c, w.Fleet())
	}
	return fleet.Text(c.out, w.Fleet(), c.paper())
}

// watchOn reads, keeps, judges and tells until it is interrupted, or a person leaves the screen.
func watchOn(ctx context.Context, c console, sources []watch.Source, find *finder, o watchOptions) (err error) {
	out, isFile := fileOf(c.out)
	_, person := terminal(c.out)
	screen := isFile && person && !o.json && !o.quiet
	log := slog.New(slog.DiscardHandler) // a screen must not be written over
	if !screen {
		log = slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	find.log = log
	s, err := openStation(ctx, sources, find.set, find.deps, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	if o.listen != "" {
		where, err := listen(ctx, o.listen, s.handler(), &all)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.err, "serving Grafana and Prometheus at http://%s\n", where)
	}
	all.Go(func() { _ = s.run(ctx) }) // it ends with ctx
	all.Go(func() { find.again(ctx, findEvery, s.follow) })
	switch {
	case o.quiet:
		<-ctx.Done()
		return nil
	case screen:
		return fleet.Screen(ctx, os.Stdin, out, s.watcher)
	}
	return printFleets(ctx, c, s.watcher)
}

// printFleets prints a line of JSON for every second.
func printFleets(ctx context.Context, c console, w *watch.Watcher) error {
	lines := json.NewEncoder(c.out)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Changed():
			if err := lines.Encode(w.Fleet()); err != nil {
				return err
			}
		}
	}
}

// listen answers at an address until ctx ends. Whoever reaches it may read: an address that others reach is refused.
func listen(ctx context.Context, address string, handler http.Handler, all *sync.WaitGroup) (where string, err error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", usageError{text: fmt.Sprintf("--listen %q, expected such as 127.0.0.1:9633", address)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", usageError{text: "--listen " + address + ": this address has no login, so it may only be one of this machine", hint: "use 127.0.0.1:PORT; for other machines use plimsoll serve, which has users and TLS"}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen at %s: %w", address, err)
	}
	server := &http.Server{Handler: forThisMachine(handler), ReadHeaderTimeout: 10 * time.Second}
	all.Go(func() { _ = server.Serve(l) }) // it ends by Close
	all.Go(func() {
		<-ctx.Done()
		_ = server.Close() // nobody is left to be told
	})
	return l.Addr().String(), nil
}

// forThisMachine refuses what was sent to another name than this machine's: a page in a browser that makes its own name mean
// 127.0.0.1 would read the answers.
func forThisMachine(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "ask for localhost or 127.0.0.1", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
