package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/watch/settings"
)

func newRunbook(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runbook",
		Short: "Change a database with durable runbooks",
		Long: `Plan, run and follow runbooks on a lab cluster or a cluster of the inventory (plimsoll.yaml). Every step is checked,
recorded before it acts, and verified. If Plimsoll is killed at any moment, the next run or resume on this machine continues
where it stopped. Runs are kept in $PLIMSOLL_HOME/runs, or in the Postgres that the inventory names.`,
	}
	cmd.AddCommand(
		newRunbookList(c), newRunbookShow(c), newRunbookValidate(c), newRunbookPlan(c), newRunbookRun(c), newRunbookStatus(c),
		newRunbookResume(c), newRunbookRerun(c), newRunbookApprove(c), newRunbookReject(c), newRunbookCancel(c), newRunbookMended(c),
		newRunbookHistory(c), newRunbookRehearse(c), newRunbookEvidence(c), newRunbookVerify(c), newRunbookTorture(c),
	)
	return cmd
}

// desk is what the runbook commands work with: the service on this machine's store.
type desk struct {
	*execute.Service
	look     func(ctx context.Context, cluster string) (*cluster.Cluster, error) // in place of Open, for who changes nothing
	tortured bool                                                                // this process is a child of a torture: it approves everything
}

func (d *desk) close() error { return d.Store.Close() }

// openDesk opens the store and wires the service.
func openDesk(ctx context.Context) (*desk, error) {
	inv, err := inventory.Open()
	if err != nil {
		return nil, err
	}
	deps, err := labDeps()
	if err != nil {
		return nil, err
	}
	rules, err := runbook.ReadRules(inv.Gate, inv.Approvals)
	if err != nil {
		return nil, err
	}
	options, err := stateOptions(ctx, inv, deps)
	if err != nil {
		return nil, err
	}
	child, inTorture := tortured(&options)
	if child { // it dies, or approves everything: none but a lab is let near it
		maps.DeleteFunc(inv.Clusters, func(_ string, c inventory.Cluster) bool { return c.Environment != cluster.Lab })
	}
	store, err := durable.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	who, known, host := person()
	look := func(ctx context.Context, name string) (*cluster.Cluster, error) {
		return lookAtSite(ctx, name, inv, deps)
	}
	return &desk{tortured: inTorture, look: look, Service: &execute.Service{
		TTL:   tortureLease(),
		Rules: rules, Shared: inv.Shared,
		Store: store, Actions: catalog.Actions(), User: who, Known: known, Holder: fmt.Sprintf("%s (process %d on %s)", who, os.Getpid(), host),
		Call: func(name string) string { return called(name, inv) },
		Open: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			return openSite(ctx, name, inv, deps)
		},
		Meter:       func(site *cluster.Cluster) execute.Meter { return execute.NewNodeMeter(site) },
		Watch:       watchOfRun,
		ClusterLock: catalog.ClusterLock,
	}}, nil
}

// watchOfRun reads the series that a runbook names, with the person's own queries among them.
func watchOfRun(ctx context.Context, site *cluster.Cluster) (execute.Watched, error) {
	set, err := settings.Read(settings.File)
	if err != nil {
		return nil, err
	}
	return catalog.Live(ctx, site, set.Queries)
}

// executed tells whether a run is executed now: by a process of this state folder, or by whom elsewhere.
func (d *desk) executed(ctx context.Context, run string) (yes bool, elsewhere *execute.Elsewhere, err error) {
	if elsewhere, err = d.Elsewhere(ctx, run); elsewhere != nil || err != nil {
		return elsewhere != nil, elsewhere, err
	}
	yes, err = d.Store.Executes(ctx, run)
	return yes, nil, err
}

// readRunbook reads a file, or a shipped runbook by its name.
func readRunbook(name string) (*runbook.Runbook, error) {
	return catalog.Runbook(&document.Node{Kind: document.Scalar, Text: name})
}

// request is the flags that say what to run where.
type request struct {
	cluster, override, breakLock string
	inputs                       []string
}

func (q *request) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.cluster, "cluster", "", "a cluster of the inventory or of the lab: NAME, or lab:NAME (required)")
	cmd.Flags().StringArrayVarP(&q.inputs, "input", "i", nil, "NAME=VALUE, an input of the runbook; may be repeated")
	completing(cmd, "cluster", completeClusters)
	completing(cmd, "input", completeInputs)
}

// prepare plans.
func (q *request) prepare(ctx context.Context, d *desk, name string) (*execute.Prepared, error) {
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
	return d.Prepare(ctx, execute.Request{Book: book, Cluster: q.cluster, Inputs: said, Override: q.override, BreakLock: q.breakLock})
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
