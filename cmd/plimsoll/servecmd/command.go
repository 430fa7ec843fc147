// Package servecmd has plimsoll serve, the web page, with what it is handed.
package servecmd

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
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/cmd/plimsoll/watchcmd"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook"
	"plimsoll/runbook/books"
	"plimsoll/web"
	"plimsoll/web/access"
)

// options are where the page is shown, and to whom.
type options struct {
	listen, config string
}

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the web pages: fleet, runs, approvals, trials, advice",
		Long: `Serve web pages that show the state of the fleet, what runs and what waits for a person. There you can plan, begin, approve, reject,
resume, rerun and cancel runs. By default only this machine can reach the pages, and you log in with a code that this command prints. With
--web-config, people log in with a name and password, each with a role, over TLS; then the server may listen on any address.

This process executes the runs that are begun on the page. On Ctrl-C the steps in progress finish, and the runs are interrupted: plimsoll runbook resume RUN continues them.`,
		Example: "  plimsoll serve\n  plimsoll serve --listen 0.0.0.0:7443 --web-config web.yml",
		Args:    console.Exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), c, o) },
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:7070", "`ADDRESS` to listen on: host:port, or the path of a Unix socket")
	cmd.Flags().StringVar(&o.config, "web-config", "", "`FILE` with users, roles and certificate (docs/web.md)")
	cmd.AddCommand(newEnter(c))
	return cmd
}

func serve(ctx context.Context, c console.Streams, o options) error {
	return runs.With(ctx, func(ctx context.Context, d *runs.Service) error {
		deps, err := home.LabDeps()
		if err != nil {
			return err
		}
		listener, err := net.Listen(network(o.listen), o.listen)
		if err != nil {
			if errors.Is(err, syscall.EADDRINUSE) {
				return hint.With(fmt.Errorf("listen at %s: another process listens there", o.listen),
					"if it is plimsoll serve, plimsoll serve enter prints its address; else choose another port: plimsoll serve --listen 127.0.0.1:7071")
			}
			return hint.With(fmt.Errorf("--listen %s: %w", o.listen, err), "--listen takes an address and a port of this machine, such as 127.0.0.1:7070, or a path with a / for a socket")
		}
		defer func() { _ = listener.Close() }() // the server closes it
		address := servedAt{Listen: o.listen, Token: rand.Text()}
		if network(o.listen) == "tcp" {
			address.Listen = listener.Addr().String()
		}
		log := console.NewLog(c)
		gate, err := access.New(access.Options{Listen: address.Listen, Config: o.config, Instance: deps.Home, Owner: d.User, Token: address.Token, Log: log})
		if err != nil {
			return err
		}
		watching, stop := context.WithCancel(ctx)
		defer stop()
		secure, err := gate.Secure()
		if err != nil {
			return err
		}
		if address.URL = "http://" + address.Listen; secure != nil {
			address.URL = "https://" + address.Listen
			listener = tls.NewListener(listener, secure.ServerTLS())
		}
		watched, ended, err := servedWatch(watching, deps, address.linked(), watchcmd.FindEvery, log)
		if err != nil {
			return err
		}
		page, err := web.New(ctx, web.Deps{
			Gate: gate, Runs: d.Service, Look: d.Look, Runbooks: books.Names(), Trials: servedTrials(c), Watch: watched, Advice: servedAdvice(deps), Given: c.Given.Said, Log: log,
			Runbook:  func(name string) (*runbook.Runbook, error) { return runs.ReadRunbook(name) },
			Clusters: func(ctx context.Context) []string { return servedClusters(ctx) },
		})
		if err != nil {
			return err
		}
		err = show(ctx, c, listener, address, gate, page, log)
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
func show(ctx context.Context, c console.Streams, listener net.Listener, address servedAt, gate *access.Gate, page *web.Server, log *slog.Logger) error {
	kept, err := address.keep()
	if err != nil {
		return err
	}
	defer kept()
	server := newServer(page.Handler(), log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if gate.ByCodes() {
		fmt.Fprintf(c.Out, "%s/enter?code=%s\n", address.URL, gate.Code())
		fmt.Fprintln(c.Err, "Open it within five minutes; it works once. plimsoll serve enter prints another. Ctrl-C stops the server.")
	} else {
		fmt.Fprintln(c.Out, address.URL)
		fmt.Fprintln(c.Err, "Ctrl-C stops.")
	}
	page.TakeUp()
	select {
	case err = <-served:
	case <-ctx.Done():
		fmt.Fprintln(c.Err, "stopping: the step that is acting may finish, no other step begins (Ctrl-C again ends it at once)")
	}
	for _, run := range page.Close() {
		fmt.Fprintf(c.Err, "this process was executing run %s; if it has not ended, plimsoll runbook resume %s continues it\n", run, run)
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

// newServer answers requests whose header comes soon: who sends none holds no connection for long.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
}

// servedClusters lists the clusters of the inventory and of the lab as they are now.
func servedClusters(ctx context.Context) []string {
	inv, err := inventory.Open()
	if err != nil {
		return nil // for suggestions alone
	}
	deps, err := home.LabDeps()
	if err != nil {
		return document.SortedKeys(inv.Clusters)
	}
	return home.ClusterNames(ctx, inv, deps)
}
