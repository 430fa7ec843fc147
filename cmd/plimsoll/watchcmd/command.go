// Package watchcmd has the commands of plimsoll watch, and the watch that plimsoll serve runs too.
package watchcmd

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

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/inventory"
	"plimsoll/report/fleet"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

type options struct {
	labs       []string
	config     string
	listen     string
	once, json bool
	quiet      bool
}

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "watch [CLUSTER...]",
		Short: "Watch the fleet: what it waits for, and what will run out",
		Long: `Read every instance of plimsoll.yaml and of the running lab clusters once a second, and show the fleet, worst first; or only the
clusters that you name. Clusters that trials made for themselves are read only if you name them. The readings are kept in $PLIMSOLL_HOME/watch. Alert rules are evaluated on them, and alerts go to the receivers in watch.yaml.`,
		Example: `  plimsoll watch
  plimsoll watch orders --once --json
  plimsoll watch --lab demo
  plimsoll watch --quiet --listen 127.0.0.1:9633`,
		Args:              cobra.ArbitraryArgs,
		RunE:              func(cmd *cobra.Command, args []string) error { return runWatch(cmd.Context(), c, args, o) },
		ValidArgsFunction: home.CompleteClusters,
	}
	cmd.Flags().StringArrayVar(&o.labs, "lab", nil, "this lab cluster; may be repeated")
	cmd.Flags().StringVar(&o.config, "config", settings.File, "settings file of the watch")
	cmd.Flags().StringVar(&o.listen, "listen", "", "serve Grafana and Prometheus at this address (/api/v1 and /metrics), such as 127.0.0.1:9633")
	cmd.Flags().BoolVar(&o.once, "once", false, "read for three seconds, print the fleet and exit")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON: one line per second, or one document with --once")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "no screen: only record, evaluate rules and send alerts")
	cmd.AddCommand(newChanges(c), newExport(c), newMark(c), newSilence(c), newTestRules(c))
	return cmd
}

func runWatch(ctx context.Context, c console.Streams, names []string, o options) error {
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	inv, err := inventory.Open()
	if err != nil {
		return err
	}
	for _, name := range o.labs {
		names = append(names, home.LabPrefix+name)
	}
	set, err := settings.Read(o.config)
	if err != nil {
		return err
	}
	find := &Finder{Names: names, Deps: deps, Set: set, Log: console.NewLog(c)}
	sources, err := find.Find(ctx, inv)
	if err != nil {
		return err
	}
	if o.once {
		return watchOnce(ctx, c, sources, o)
	}
	return watchOn(ctx, c, sources, find, o)
}

// watchOnce reads long enough for rates, and prints.
func watchOnce(ctx context.Context, c console.Streams, sources []watch.Source, o options) error {
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
		return console.PrintJSON(c, w.Fleet())
	}
	return fleet.Text(c.Prose(), w.Fleet(), c.Paper())
}

// watchOn reads, keeps, judges and tells until it is interrupted, or a person leaves the screen.
func watchOn(ctx context.Context, c console.Streams, sources []watch.Source, find *Finder, o options) (err error) {
	out, isFile := console.FileOf(c.Out)
	_, isTerminal := console.Terminal(c.Out)
	screen := isFile && isTerminal && !o.json && !o.quiet
	log := slog.New(slog.DiscardHandler) // a screen must not be written over
	if !screen {
		log = slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	find.Log = log
	s, err := OpenService(ctx, sources, find.Set, find.Deps, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	if o.listen != "" {
		where, err := listen(ctx, o.listen, s.Handler(), &all)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Err, "serving Grafana and Prometheus at http://%s\n", where)
	}
	all.Go(func() { _ = s.Run(ctx) }) // it ends with ctx
	all.Go(func() { find.Rediscover(ctx, FindEvery, s.Follow) })
	switch {
	case o.quiet:
		<-ctx.Done()
		return nil
	case screen:
		return fleet.Screen(ctx, os.Stdin, out, s.Watcher)
	}
	return printFleets(ctx, c, s.Watcher)
}

// printFleets prints a line of JSON for every second.
func printFleets(ctx context.Context, c console.Streams, w *watch.Watcher) error {
	lines := json.NewEncoder(c.Out)
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
		return "", console.UsageError{Text: fmt.Sprintf("--listen %q, expected such as 127.0.0.1:9633", address)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", console.UsageError{Text: "--listen " + address + ": this address has no login, so it may only be one of this machine", Hint: "use 127.0.0.1:PORT; for other machines use plimsoll serve, which has users and TLS"}
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
