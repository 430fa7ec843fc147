package runbookcmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/plan"
)

// Request is the flags that say what to run where.
type Request struct {
	Cluster, override, breakLock string
	Inputs                       []string
}

// Flags adds the flags of a request to a command.
func (q *Request) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.Cluster, "cluster", "", "a cluster of the inventory or of the lab: NAME, or lab:NAME (required)")
	cmd.Flags().StringArrayVarP(&q.Inputs, "input", "i", nil, "NAME=VALUE, an input of the runbook; may be repeated")
	console.Completing(cmd, "cluster", home.CompleteClusters)
	console.Completing(cmd, "input", completeInputs)
}

// prepare plans.
func (q *Request) prepare(ctx context.Context, d *runs.Service, name string) (*execute.Prepared, error) {
	if q.Cluster == "" {
		return nil, console.UsageError{Text: "no cluster was given", Hint: "--cluster NAME; plimsoll lab list shows those of the lab"}
	}
	book, err := runs.ReadRunbook(name)
	if err != nil {
		return nil, err
	}
	said, err := q.Said()
	if err != nil {
		return nil, err
	}
	return d.Prepare(ctx, execute.Request{Book: book, Cluster: q.Cluster, Inputs: said, Override: q.override, BreakLock: q.breakLock})
}

// Said is the inputs by name.
func (q *Request) Said() (map[string]string, error) {
	said := map[string]string{}
	for _, in := range q.Inputs {
		key, value, ok := strings.Cut(in, "=")
		if !ok {
			return nil, console.UsageError{Text: "--input " + in, Hint: "--input NAME=VALUE"}
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
		closed.Typed = console.Quoted(name) + q.asTyped()
	}
	return err
}

// asTyped is the request as flags.
func (q *Request) asTyped() string {
	return " --cluster " + console.Quoted(q.Cluster) + asFlags("-i", q.Inputs)
}

// asFlags is a flag that was given several times.
func asFlags(flag string, values []string) (text string) {
	for _, v := range values {
		text += " " + flag + " " + console.Quoted(v)
	}
	return text
}
