package runbookcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/hint"
	"plimsoll/inventory"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// Request is the flags that say what to run where.
type Request struct {
	Cluster, override, breakLock string
	Inputs                       []string

	cmd *cobra.Command // that was typed
}

// Flags adds the flags of a request to a command.
func (q *Request) Flags(cmd *cobra.Command) {
	q.cmd = cmd
	cmd.Flags().StringVar(&q.Cluster, "cluster", "", "a cluster of the inventory or of the lab: NAME, or lab:NAME (required)")
	cmd.Flags().StringArrayVarP(&q.Inputs, "input", "i", nil, "NAME=VALUE, an input of the runbook; may be repeated")
	console.Completing(cmd, "cluster", home.CompleteClusters)
	console.Completing(cmd, "input", completeInputs)
}

// prepare plans.
func (q *Request) prepare(ctx context.Context, d *runs.Service, name string) (*execute.Prepared, error) {
	if q.Cluster == "" {
		return nil, console.UsageError{Text: "no cluster was given", Hint: q.withCluster(ctx, name)}
	}
	if q.Cluster == hint.FillIn {
		return nil, console.UsageError{Text: "--cluster " + hint.FillIn + " stands for the cluster that you choose", Hint: q.withCluster(ctx, name)}
	}
	book, err := runs.ReadRunbook(name)
	if err != nil {
		return nil, err
	}
	said, err := q.Said()
	if err != nil {
		return nil, err
	}
	p, err := d.Prepare(ctx, execute.Request{Book: book, Cluster: q.Cluster, Inputs: said, Override: q.override, BreakLock: q.breakLock})
	return p, q.planRefusal(err, name)
}

// withCluster is the command that was typed with a cluster, and the names of those that there are.
func (q *Request) withCluster(ctx context.Context, runbook string) string {
	const most = 5
	names := home.ClustersHere(ctx)
	on := func(cluster string) string {
		typed := Request{Cluster: cluster, Inputs: q.Inputs}
		return q.cmd.CommandPath() + " " + hint.Quoted(runbook) + typed.asTyped()
	}
	switch {
	case len(names) == 0:
		return on("NAME") + "; no cluster is known here: create one with plimsoll lab up mariadb, or add one to " + inventory.File
	case len(names) > most:
		return on(names[0]) + fmt.Sprintf("; there are %d other clusters, which plimsoll lab list and %s name", len(names)-1, inventory.File)
	case len(names) > 1:
		return on(names[0]) + "; there is also " + strings.Join(names[1:], ", ")
	}
	return on(names[0])
}

// planRefusal is why a plan cannot be made or executed: what an action advises about its run is the plan's, since there is no run yet.
func (q *Request) planRefusal(err error, name string) error {
	return journal.PlanRefusal(err, q.planAgain(name))
}

// planAgain is the command that plans the same again.
func (q *Request) planAgain(name string) string {
	return "plimsoll runbook plan " + hint.Quoted(name) + q.asTyped()
}

// runWith is the command that runs the plan of a hash, and no other.
func (q *Request) runWith(name, hash string) string {
	text := "plimsoll runbook run " + hint.Quoted(name) + q.asTyped()
	if q.override != "" {
		text += " --override " + hint.Quoted(q.override)
	}
	if q.breakLock != "" {
		text += " --break-lock " + hint.Quoted(q.breakLock)
	}
	return text + " --plan " + hash
}

// Said is the inputs by name.
func (q *Request) Said() (map[string]string, error) {
	said := map[string]string{}
	for _, in := range q.Inputs {
		key, value, ok := strings.Cut(in, "=")
		if !ok {
			return nil, console.UsageError{Text: "--input " + in + ", expected NAME=VALUE", Hint: "such as --input " + hint.Quoted(in+"=VALUE")}
		}
		said[key] = value
	}
	return said, nil
}

// gateRefusal is the error for a closed gate, with the command that opens it as it would be typed.
func (q *Request) gateRefusal(p *execute.Prepared, name string) error {
	err := p.Gate.Refusal(q.override)
	var closed *plan.GateError
	if errors.As(err, &closed) {
		closed.Typed = hint.Quoted(name) + q.asTyped()
	}
	return err
}

// asTyped is the request as flags.
func (q *Request) asTyped() string {
	return " --cluster " + hint.Quoted(q.Cluster) + hint.Flags("-i", q.Inputs...)
}
