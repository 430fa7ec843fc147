package runbookcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/rehearsal"
	"plimsoll/report"
	"plimsoll/result"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/plan"
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
}

func newRehearse(c console.Streams) *cobra.Command {
	var o rehearseOptions
	cmd := &cobra.Command{
		ValidArgsFunction: CompleteRunbooks,
		Use:               "rehearse RUNBOOK", Short: "Rehearse a runbook on a lab like your cluster, until its gate opens", Args: console.Exactly("RUNBOOK"),
		Long: `Read the cluster, write a trial with a lab as like it as possible (product, version, number of nodes, settings, the
schema without the data), and run this trial until the runbook's gate is open or a rehearsal fails. Nothing is changed on the cluster.

The trial is written to rehearsals/RUNBOOK-CLUSTER. Read and edit it: its expectations say what your service must not notice. --trial runs
the edited file, or a trial of your own that runs the runbook.`,
		Example: `  plimsoll runbook rehearse mysql/set-variable --cluster orders -i name=max_connections -i value=500
  plimsoll runbook rehearse change.yaml --cluster orders --write
  plimsoll runbook rehearse change.yaml --cluster orders --trial rehearsals/change-orders/trial.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Desk) error { return rehearse(ctx, c, d, args[0], o) })
		},
	}
	o.Flags(cmd)
	cmd.Flags().StringVar(&o.trial, "trial", "", "a trial `FILE` that runs the runbook, in place of a generated one")
	cmd.Flags().StringVar(&o.out, "out", "", "folder for the generated trial (default rehearsals/RUNBOOK-CLUSTER)")
	cmd.Flags().StringVar(&o.workload, "workload", "", "the load's workload: a name, or a `FILE` of your own (default: the engine's usual one)")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "set a key of the trial, for example load.rate=200; may be repeated")
	cmd.Flags().BoolVar(&o.write, "write", false, "write the trial and run nothing")
	return cmd
}

func rehearse(ctx context.Context, c console.Streams, d *runs.Desk, name string, o rehearseOptions) error {
	open := d.Open
	d.Open = d.Look // nothing is changed there
	p, err := o.prepare(ctx, d, name)
	if err != nil {
		return err
	}
	if p.Gate.Missing {
		return o.gateRefusal(p, name)
	}
	if err := p.Header.Plan.Trouble(); err != nil {
		return err
	}
	file := o.trial
	if file == "" {
		if file, err = writeRehearsal(ctx, c, d, name, o, p); err != nil || o.write {
			return err
		}
	}
	t, err := trialcmd.Read(file, spec.Options{Set: o.set})
	if err != nil {
		return err
	}
	if t.Production() != "" {
		return console.UsageError{Text: fmt.Sprintf("%s is in production: a rehearsal must run elsewhere", t.Production())}
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	again := func() (*execute.Prepared, error) { return o.prepare(ctx, d, name) }
	if _, err = rehearseUntilOpen(ctx, c, d, t, deps, p, again); err != nil {
		return err
	}
	d.Open = open
	fmt.Fprintf(c.Out, "Next: plimsoll runbook run %s%s\n", name, o.asTyped())
	return nil
}

// gateRefusal is the error for a closed gate, with the command that opens it as it would be typed.
func (q *Request) gateRefusal(p *execute.Prepared, name string) error {
	err := p.Gate.Refusal(q.override)
	var closed *plan.GateError
	if errors.As(err, &closed) {
		closed.Typed = quoted(name) + q.asTyped()
	}
	return err
}

// asTyped is the request as flags.
func (q *Request) asTyped() string {
	text := " --cluster " + q.Cluster
	for _, in := range q.Inputs {
		text += " -i " + quoted(in)
	}
	return text
}

// misses is how often in a row a rehearsal may teach nothing.
const misses = 3

// rehearseUntilOpen runs a trial until the gate is open: once where there is none to open.
func rehearseUntilOpen(ctx context.Context, c console.Streams, d *runs.Desk, t *spec.Trial, deps lab.Deps, p *execute.Prepared, again func() (*execute.Prepared, error)) (*execute.Prepared, error) {
	once := p.Gate.Needed == 0
	for missed := 0; once || !p.Gate.Open(); {
		before := len(p.Gate.Passed)
		fmt.Fprintf(c.Err, "Rehearsal of %s: %s\n", p.Header.Runbook, standing(p))
		res, err := trialcmd.Measure(ctx, c, t, trialcmd.RunOptions{}, 0, deps, d.Store)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(c.Out, "%s  %s\n", res.Verdict.Verdict, res.Dir)
		switch res.Verdict.Verdict {
		case analyze.Pass:
			missed = 0
		case analyze.Fail:
			return nil, rehearsalEnded(c, res, "The rehearsal failed: the change did not meet the trial's expectations.")
		default:
			if missed++; missed == misses || once {
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
	if err := report.Text(c.Out, res, c.Paper()); err != nil {
		return err
	}
	fmt.Fprintln(c.Err, why)
	return console.WithCode{Code: console.VerdictExit(res.Verdict.Verdict)}
}

// writeRehearsal writes the trial and what belongs to it, and says in what the lab is not like the cluster.
func writeRehearsal(ctx context.Context, c console.Streams, d *runs.Desk, name string, o rehearseOptions, p *execute.Prepared) (file string, err error) {
	book, err := runs.ReadRunbook(name)
	if err != nil {
		return "", err
	}
	said, err := o.Said()
	if err != nil {
		return "", err
	}
	dir := o.out
	if dir == "" {
		dir = filepath.Join("rehearsals", home.SafeName(filepath.Base(book.Name)+"-"+p.Header.Cluster))
	}
	limits, err := limits(ctx)
	if err != nil {
		return "", err
	}
	site, err := d.Look(ctx, p.Header.Cluster)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	path, err := fromFolder(dir, name)
	if err != nil {
		return "", err
	}
	workload := o.workload
	if document.IsPath(workload) {
		if workload, err = fromFolder(dir, workload); err != nil {
			return "", err
		}
	}
	draft, err := rehearsal.Write(ctx, site, rehearsal.Plan{
		Book: book, Path: path, Said: said, Prepared: p, Products: labProducts(), Workload: workload, Limits: limits,
	})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "trial.yaml")
	if err := errors.Join(writeNew(c, file, draft.Trial), writeNew(c, filepath.Join(dir, rehearsal.SchemaFile), draft.Schema)); err != nil {
		return "", err
	}
	fmt.Fprintf(c.Err, "%s rehearses %s on a lab like %s (%s %s).\n", file, book.Name, p.Header.Cluster, p.Header.Product, p.Header.Version)
	for _, text := range draft.Differs {
		fmt.Fprintf(c.Err, "  differs from your cluster: %s\n", text)
	}
	for _, text := range draft.Mapped {
		fmt.Fprintf(c.Err, "  %s\n", text)
	}
	return file, nil
}

// writeNew writes a file; one that was there and is another is kept beside it. Of nothing it writes nothing.
func writeNew(c console.Streams, file string, data []byte) error {
	if data == nil {
		return nil
	}
	switch old, err := os.ReadFile(file); {
	case err == nil && bytes.Equal(old, data):
		return nil
	case err == nil:
		if err := os.Rename(file, file+".before"); err != nil {
			return fmt.Errorf("keep what was written before: %w", err)
		}
		fmt.Fprintf(c.Err, "%s existed and was renamed to %s.before.\n", file, file)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("check for an earlier trial: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write the rehearsal: %w", err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write the rehearsal: %w", err)
	}
	return nil
}

// fromFolder is how a file in a folder names another file; the name of a shipped runbook stays as it is.
func fromFolder(dir, name string) (string, error) {
	if !document.IsPath(name) {
		return name, nil
	}
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(name)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return to, nil //nolint:nilerr // by its whole path then
	}
	if !strings.HasPrefix(rel, ".") {
		rel = "./" + rel
	}
	return rel, nil
}

// labProducts are what a lab can be made of.
func labProducts() []rehearsal.Product {
	var all []rehearsal.Product
	products := catalog.Products()
	for _, name := range document.SortedKeys(products) {
		one := rehearsal.Product{Name: name}
		for _, r := range products[name].Launcher.Releases() {
			if r.Product == name {
				one.Versions = append(one.Versions, r.Version)
			}
		}
		all = append(all, one)
	}
	return all
}

// limits are what this machine can carry: a quarter of its memory for buffer pools.
func limits(ctx context.Context) (rehearsal.Limits, error) {
	m, err := catalog.Machine()
	if err != nil {
		return rehearsal.Limits{}, err
	}
	l := rehearsal.Limits{Memory: 1 << 30, Nodes: 5}
	data, err := m.ReadFile(ctx, "/proc/meminfo")
	if err != nil {
		return l, nil //nolint:nilerr // a machine that does not tell carries a little
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				l.Memory = kib << 10 / 4
			}
		}
	}
	return l, nil
}
