package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook"
	"plimsoll/runbook/books"
	"plimsoll/web"
	"plimsoll/web/access"
)

// serveOptions are where the page is shown, and to whom.
type serveOptions struct {
	listen, config string
}

func newServe(c console) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show all of it as a web page",
		Long: `Show what is, what runs and what waits for a person as a web page: runs can be planned, begun, approved, rejected, resumed, rerun
and cancelled there. Only this machine can reach it, and who opens it enters by a code that is printed here. With --web-config people
enter by name and password, each with a role, and the page speaks TLS; then it may listen on any address.

Runs that are begun on the page are executed by this process. Ctrl-C lets what acts now end and parks them.`,
		Example: "  plimsoll serve\n  plimsoll serve --listen 0.0.0.0:7443 --web-config web.yml",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), c, o) },
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:7070", "`ADDRESS` to listen on: host:port, or the path of a Unix socket")
	cmd.Flags().StringVar(&o.config, "web-config", "", "`FILE` with users, roles and certificate (docs/web.md)")
	cmd.AddCommand(newServeEnter(c))
	return cmd
}

func serve(ctx context.Context, c console, o serveOptions) error {
	return withDesk(ctx, func(ctx context.Context, d *desk) error {
		deps, err := labDeps()
		if err != nil {
			return err
		}
		listener, err := net.Listen(network(o.listen), o.listen)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		defer func() { _ = listener.Close() }() // the server closes it
		door := servedAt{Listen: o.listen, Token: rand.Text()}
		if network(o.listen) == "tcp" {
			door.Listen = listener.Addr().String()
		}
		gate, err := access.New(access.Options{Listen: door.Listen, Config: o.config, Instance: deps.Home, Owner: d.User, Token: door.Token})
		if err != nil {
			return err
		}
		log := newLog(c)
		watching, stop := context.WithCancel(ctx)
		defer stop()
		watched, ended, err := servedWatch(watching, deps, log)
		if err != nil {
			return err
		}
		page, err := web.New(ctx, web.Deps{
			Gate: gate, Runs: d.Service, Look: d.look, Runbooks: books.Names(), Trials: servedTrials(c), Watch: watched, Advice: servedAdvice(deps), Log: log,
			Runbook:  func(name string) (*runbook.Runbook, error) { return readRunbook(name) },
			Clusters: func(ctx context.Context) []string { return servedClusters(ctx) },
		})
		if err != nil {
			return err
		}
		err = show(ctx, c, listener, door, gate, page, log)
		stop()
		return errors.Join(err, ended())
	})
}

func network(listen string) string {
	if strings.HasPrefix(listen, "/") {
		return "unix"
	}
	return "tcp"
}

// show answers requests until ctx ends.
func show(ctx context.Context, c console, listener net.Listener, door servedAt, gate *access.Gate, page *web.Server, log *slog.Logger) error {
	secure, err := gate.Secure()
	if err != nil {
		return err
	}
	door.URL = "http://" + door.Listen
	if secure != nil {
		door.URL = "https://" + door.Listen
		listener = tls.NewListener(listener, secure.ServerTLS())
	}
	kept, err := door.keep()
	if err != nil {
		return err
	}
	defer kept()
	server := &http.Server{
		Handler: page.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if gate.ByCodes() {
		fmt.Fprintf(c.out, "%s/enter?code=%s\n", door.URL, gate.Code())
		fmt.Fprintln(c.err, "Open it within five minutes; it lets in once. plimsoll serve enter prints another. Ctrl-C stops.")
	} else {
		fmt.Fprintln(c.out, door.URL)
		fmt.Fprintln(c.err, "Ctrl-C stops.")
	}
	page.TakeUp()
	select {
	case err = <-served:
	case <-ctx.Done():
		fmt.Fprintln(c.err, "stopping: what acts now may end, nothing else begins (Ctrl-C again ends it at once)")
	}
	for _, run := range page.Close() {
		fmt.Fprintf(c.err, "run %s was executed here; if it has not ended, plimsoll runbook resume %s continues it\n", run, run)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	closing := server.Shutdown(limited)
	if errors.Is(closing, context.DeadlineExceeded) {
		closing = server.Close()
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closing)
}

// servedClusters lists the clusters of the inventory and of the lab as they are now.
func servedClusters(ctx context.Context) []string {
	inv, err := inventory.Open()
	if err != nil {
		return nil // for suggestions alone
	}
	deps, err := labDeps()
	if err != nil {
		return document.SortedKeys(inv.Clusters)
	}
	return clusterNames(ctx, inv, deps)
}
