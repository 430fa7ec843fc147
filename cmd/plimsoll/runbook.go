package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/durable"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/runbook"
	"plimsoll/runbook/action"
	"plimsoll/runbook/books"
)

func newRunbook(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runbook",
		Short: "Change a database by steps that survive anything",
		Long: `Plan, run and follow runbooks on a lab cluster or a cluster of the inventory (plimsoll.yaml). Every step is checked,
written down before it acts, and verified. Kill Plimsoll at any moment: the next run or resume on this machine goes on
where it was. Runs are kept in $PLIMSOLL_HOME/runs, or in the Postgres that the inventory names.`,
	}
	cmd.AddCommand(
		newRunbookList(c), newRunbookShow(c), newRunbookValidate(c), newRunbookPlan(c), newRunbookRun(c), newRunbookStatus(c),
		newRunbookResume(c), newRunbookRerun(c), newRunbookApprove(c), newRunbookReject(c), newRunbookCancel(c),
		newRunbookHistory(c), newRunbookEvidence(c), newRunbookVerify(c), newRunbookTorture(c),
	)
	return cmd
}

// desk is what the runbook commands work with: the service on this machine's store.
type desk struct {
	*runbook.Service
	tortured bool // this process is a child of a torture: it approves everything
}

func (d *desk) close() error { return d.Store.Close() }

// openDesk opens the store and wires the service.
func openDesk(ctx context.Context) (*desk, error) {
	inv, err := inventory.Read(inventory.File)
	if err != nil {
		return nil, err
	}
	deps, err := labDeps()
	if err != nil {
		return nil, err
	}
	postgres := engine.Secret("")
	if inv.State.Postgres != nil {
		if postgres, err = inv.State.Postgres.Value(ctx, deps.Machine); err != nil {
			return nil, err
		}
	}
	options := durable.Options{Folder: filepath.Join(deps.Home, "runs"), Postgres: string(postgres), Version: runbook.Interpreter}
	inTorture := tortured(&options)
	store, err := durable.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	who, host := person()
	return &desk{tortured: inTorture, Service: &runbook.Service{
		Store: store, Actions: catalog.Actions(), User: who, Holder: fmt.Sprintf("%s (process %d on %s)", who, os.Getpid(), host),
		Open:   func(ctx context.Context, name string) (*action.Site, error) { return openSite(ctx, name, inv, deps) },
		Meter:  func(site *action.Site) runbook.Meter { return runbook.NewNodeMeter(site) },
		Marker: catalog.Marker,
	}}, nil
}

// person is who sits here, as the operating system knows.
func person() (who, host string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	who = strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	return who + "@" + host, host
}

// openSite opens a cluster of the inventory, else a lab cluster.
func openSite(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps) (*action.Site, error) {
	if c, ok := inv.Clusters[name]; ok {
		return openTarget(ctx, name, c, deps)
	}
	cluster, err := openLab(ctx, name, deps)
	if err != nil {
		if errors.Is(err, lab.ErrNoCluster) && len(inv.Clusters) > 0 {
			n := &document.Node{Kind: document.Scalar, Text: name, File: "--cluster"}
			return nil, document.UnknownName(n, "cluster", document.SortedKeys(inv.Clusters))
		}
		return nil, err
	}
	target, err := cluster.Target()
	if err != nil {
		return nil, errors.Join(err, cluster.Close())
	}
	e, err := catalog.EngineOf(target)
	if err != nil {
		return nil, errors.Join(err, cluster.Close())
	}
	site := action.OfLab(cluster, e, deps.Machine)
	site.Release = cluster.Close
	return site, nil
}

// openLab takes a lab cluster in hand. One that is just being given back is waited for.
func openLab(ctx context.Context, name string, deps lab.Deps) (*lab.Cluster, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Second); ; {
		cluster, err := lab.Open(ctx, name, deps)
		if !errors.Is(err, infra.ErrLocked) || time.Now().After(end) {
			return cluster, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func openTarget(ctx context.Context, name string, c inventory.Cluster, deps lab.Deps) (*action.Site, error) {
	password, err := c.Password.Value(ctx, deps.Machine)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	var nodes []action.Node
	for _, n := range c.Nodes {
		node := action.Node{Name: n.Name, Target: c.Target(n, password)}
		if n.Machine == "local" {
			node.Machine = deps.Machine
		}
		nodes = append(nodes, node)
	}
	e, err := catalog.EngineOf(nodes[0].Target)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	return &action.Site{
		Name: name, Environment: c.Environment, Engine: e, Local: deps.Machine,
		List: func(context.Context) ([]action.Node, error) { return append([]action.Node(nil), nodes...), nil },
	}, nil
}

// readRunbook reads a file, or a shipped runbook by its name.
func readRunbook(name string) (*runbook.Runbook, error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return runbook.Read(name, catalog.Actions())
	}
	book, err := books.Read(name, catalog.Actions())
	if errors.Is(err, fs.ErrNotExist) {
		n := &document.Node{Kind: document.Scalar, Text: name}
		refusal := document.UnknownName(n, "runbook", books.Names())
		if refusal.Hint == "" {
			refusal.Hint = "a file of your own ends in .yaml"
		}
		return nil, refusal
	}
	return book, err
}

// request is the flags that say what to run where.
type request struct {
	cluster, override, breakLock string
	inputs                       []string
}

func (q *request) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.cluster, "cluster", "", "a cluster of the inventory or of the lab (required)")
	cmd.Flags().StringArrayVarP(&q.inputs, "input", "i", nil, "NAME=VALUE, an input of the runbook; may be given many times")
}

// prepare plans.
func (q *request) prepare(ctx context.Context, d *desk, name string) (*runbook.Prepared, error) {
	if q.cluster == "" {
		return nil, usageError{text: "which cluster?", hint: "--cluster NAME; plimsoll lab list shows those of the lab"}
	}
	book, err := readRunbook(name)
	if err != nil {
		return nil, err
	}
	said, err := q.said()
	if err != nil {
		return nil, err
	}
	return d.Prepare(ctx, runbook.Request{Book: book, Cluster: q.cluster, Inputs: said, Override: q.override, BreakLock: q.breakLock})
}

// said is the inputs by name.
func (q *request) said() (map[string]string, error) {
	said := map[string]string{}
	for _, in := range q.inputs {
		key, value, ok := strings.Cut(in, "=")
		if !ok {
			return nil, usageError{text: "--input " + in, hint: "--input NAME=VALUE"}
		}
		said[key] = value
	}
	return said, nil
}
