package runbookcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/hint"
	"plimsoll/report"
	"plimsoll/result"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/trial/spec"
)

// rehearseOptions are the flags of runbook rehearse.
type rehearseOptions struct {
	Request
	trial    string // a file, in place of the one that is written
	out      string // folder for what is written
	workload string
	set      []string
	write    bool // only write it
	clone    cloneOptions
}

func newRehearse(c console.Streams) *cobra.Command {
	var o rehearseOptions
	cmd := &cobra.Command{
		ValidArgsFunction: CompleteRunbooks,
		Use:               "rehearse RUNBOOK", Short: "Rehearse a runbook on a lab like your cluster, or on its clone, until its gate opens", Args: console.Exactly("RUNBOOK"),
		Long: `Read the cluster, write a trial with a lab as like it as possible (product, version, number of nodes, settings, the
schema without the data), and run this trial until the runbook's gate is open or a rehearsal fails. Nothing is changed on the cluster. If the
plan finds nothing to do there, no rehearsal is needed: nothing is written and nothing runs.

With --on-clone the trial runs on a fast clone of an Aurora cluster, which has your data. Plimsoll creates the clone with as many instances as
the gate asks for, loads the tables of a shipped workload beside your data, and deletes the clone at the end, also after Ctrl-C.

The trial is written to rehearsals/RUNBOOK-CLUSTER; if the trial there rehearses something else, such as other inputs, to
rehearsals/RUNBOOK-CLUSTER-2. Read and edit it: its expectations say what your service must not notice. --trial runs
the edited file, or a trial of your own that runs the runbook.`,
		Example: `  plimsoll runbook rehearse mysql/set-variable --cluster orders -i name=max_connections -i value=500
  plimsoll runbook rehearse change.yaml --cluster orders --write
  plimsoll runbook rehearse change.yaml --cluster orders --trial rehearsals/change-orders/trial.yaml
  plimsoll runbook rehearse change.yaml --cluster shop --on-clone --workload our-queries.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error { return rehearse(ctx, c, d, args[0], o) })
		},
	}
	o.Flags(cmd)
	cmd.Flags().StringVar(&o.trial, "trial", "", "a trial `FILE` that runs the runbook, in place of a generated one")
	cmd.Flags().StringVar(&o.out, "out", "", "folder for the generated trial (default rehearsals/RUNBOOK-CLUSTER, or with a number if the trial there rehearses something else)")
	cmd.Flags().StringVar(&o.workload, "workload", "", "the load's workload: a name, or a `FILE` of your own (default: the engine's usual one)")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "set a key of the trial, for example load.rate=200; may be repeated")
	cmd.Flags().BoolVar(&o.write, "write", false, "write the trial and run nothing")
	o.clone.flags(cmd)
	return cmd
}

func rehearse(ctx context.Context, c console.Streams, d *runs.Service, name string, o rehearseOptions) error {
	if err := o.clone.check(); err != nil {
		return err
	}
	open := d.Open
	d.Open = d.Look // nothing is changed there
	p, err := o.prepare(ctx, d, name)
	if err != nil {
		return err
	}
	if idlePlan(p) {
		fmt.Fprintf(c.Out, "nothing to do on %s: %s; no rehearsal is needed\n", p.Header.Cluster, alreadyThere(p.Header.Plan))
		return nil
	}
	if p.Gate.Missing {
		return o.gateRefusal(p, name)
	}
	if o.trial == "" && !o.clone.use {
		if err := o.unready(name, p); err != nil {
			return err
		}
	}
	if err := o.planRefusal(p.Header.Plan.Trouble(), name); err != nil {
		return err
	}
	if len(p.Lacks) > 0 {
		lacks := &execute.LackError{All: p.Lacks}
		fmt.Fprintf(c.Err, "A run on %s would be refused: %v\n  %s\n", p.Header.Cluster, lacks, lacks.Hint())
	}
	if err := p.Unanswered(); err != nil {
		fmt.Fprintf(c.Err, "Rehearsals may pass, and a run on %s would still be refused: %v\n  %s\n", p.Header.Cluster, err, hint.Of(err))
	}
	switch {
	case o.clone.use:
		err = o.onClone(ctx, c, d, open, name, p)
	default:
		err = o.rehearseOn(ctx, c, d, name, p, place{parts: catalog.Parts()})
	}
	if err != nil || o.write {
		return err
	}
	d.Open = open
	fmt.Fprintf(c.Prose(), "Next: plimsoll runbook run %s%s\n", hint.Quoted(name), o.asTyped())
	return nil
}

// place is where a trial rehearses.
type place struct {
	parts spec.Parts
	clone *clone // nil: a lab, or the target of a trial that somebody wrote
}

// rehearseOn runs the trial that was given, or writes one and runs it, until the gate is open.
func (o rehearseOptions) rehearseOn(ctx context.Context, c console.Streams, d *runs.Service, name string, p *execute.Prepared, at place) (err error) {
	file := o.trial
	if file == "" {
		if file, err = writeRehearsal(ctx, c, d, name, o, p, at.clone); err != nil || o.write {
			return err
		}
	}
	t, err := trialcmd.ReadWith(file, spec.Options{Set: o.set}, at.parts)
	if err != nil {
		return err
	}
	if t.Production() != "" {
		return console.UsageError{Text: fmt.Sprintf("%s is in production: a rehearsal must run elsewhere", t.Production())}
	}
	if o.trial != "" {
		if err := otherInputs(t, p, o.trial); err != nil {
			return err
		}
	}
	if at.clone != nil {
		if err := at.clone.load(ctx, c, d, t); err != nil {
			return err
		}
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	again := func() (*execute.Prepared, error) { return o.prepare(ctx, d, name) }
	measure := func() (*result.Result, error) {
		return trialcmd.Measure(ctx, c, t, at.parts, trialcmd.RunOptions{}, 0, deps, d.Store)
	}
	if _, err = rehearseUntilOpen(c, p, measure, again); errors.Is(err, context.Canceled) {
		fmt.Fprintln(c.Err, "Rehearsals that have passed are kept and count; the one that was interrupted does not, and nothing was changed on the cluster.")
	}
	if at.clone == nil && (errors.As(err, &console.WithCode{}) || errors.Is(err, context.Canceled)) {
		fmt.Fprintf(c.Err, "To try again: plimsoll runbook rehearse %s%s --trial %s%s\n", hint.Quoted(name), o.asTyped(), hint.Quoted(file), hint.Flags("--set", o.set...))
	}
	return err
}

// misses is how often in a row a rehearsal may teach nothing.
const misses = 3

// rehearseUntilOpen runs a trial until the gate is open: once where there is none to open.
func rehearseUntilOpen(c console.Streams, p *execute.Prepared, measure func() (*result.Result, error), again func() (*execute.Prepared, error)) (*execute.Prepared, error) {
	once := p.Gate.Needed == 0
	for missed := 0; once || !p.Gate.Open(); {
		before := len(p.Gate.Passed)
		fmt.Fprintf(c.Err, "Rehearsal of %s: %s\n", p.Header.Runbook, standing(p))
		res, err := measure()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(c.Out, "%s  %s\n", res.Verdict.Verdict, res.Dir)
		switch res.Verdict.Verdict {
		case analyze.Pass:
			missed = 0
		case analyze.Fail:
			return nil, rehearsalEnded(c, res, whyFailed(res.Verdict))
		case analyze.CouldNotRun: // its cause does not go away by itself
			return nil, rehearsalEnded(c, res, "The rehearsal could not run, so it counts neither for the change nor against it. Fix the cause first.")
		default:
			if missed++; res.Verdict.Unchanged {
				return nil, rehearsalEnded(c, res, "The rehearsal proves nothing about the change: there was nothing to do, and in another rehearsal there would be nothing to do either. Choose other inputs, or a trial whose cluster does not have the change yet: --trial FILE.")
			}
			if missed == misses || once {
				return nil, rehearsalEnded(c, res, provedNothing(missed))
			}
			fmt.Fprintf(c.Err, "It proves nothing about the change: %s. Plimsoll tries again (attempt %d of %d).\n", firstReason(res), missed+1, misses)
			continue
		}
		if p, err = again(); err != nil {
			return nil, err
		}
		if once {
			break
		}
		if len(p.Gate.Passed) <= before {
			return nil, fmt.Errorf("the rehearsal passed but does not count: %s", p.Gate.Why)
		}
	}
	fmt.Fprintf(c.Out, "%s\n", standing(p))
	for _, a := range approvals(p.Header.Plan.Steps) {
		fmt.Fprintf(c.Out, "Step %s will wait for a person: %s\n", strings.Join(a.steps, ", "), a.note)
	}
	return p, nil
}

// provedNothing is said after the last attempt.
func provedNothing(attempts int) string {
	if attempts == 1 {
		return "The rehearsal proves nothing about the change: it counts neither for it nor against it."
	}
	return fmt.Sprintf("%d rehearsals in a row prove nothing about the change: they count neither for it nor against it.", attempts)
}

// whyFailed tells a change that failed from one that did what it should and was felt.
func whyFailed(v result.Verdict) string {
	if v.ChangeFailed != "" {
		return "The rehearsal failed: " + strings.TrimSuffix(v.ChangeFailed, ".") + "."
	}
	return "The rehearsal failed: the change did not meet the trial's expectations."
}

// firstReason is why a trial ended with the verdict that it has.
func firstReason(res *result.Result) string {
	if len(res.Verdict.Reasons) == 0 {
		return "the verdict is " + string(res.Verdict.Verdict)
	}
	return res.Verdict.Reasons[0]
}

// standing says how the gate stands.
func standing(p *execute.Prepared) string {
	switch {
	case p.Header.Environment != runbook.Production:
		return fmt.Sprintf("cluster %s is in %s, where gates do not apply", p.Header.Cluster, p.Header.Environment)
	case p.Gate.None != "":
		return "the runbook needs no rehearsal: " + p.Gate.None
	case p.Gate.Open():
		return fmt.Sprintf("the gate is open: %d of %d rehearsals have passed", len(p.Gate.Passed), p.Gate.Needed)
	}
	return fmt.Sprintf("%d of %d have passed", len(p.Gate.Passed), p.Gate.Needed)
}

func rehearsalEnded(c console.Streams, res *result.Result, why string) error {
	if err := report.Text(c.Prose(), res, c.Paper()); err != nil {
		return err
	}
	fmt.Fprintln(c.Err, why)
	return console.WithCode{Code: console.VerdictExit(res.Verdict.Verdict)}
}
