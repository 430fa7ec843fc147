package runbookcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/infra/aws"
	"plimsoll/inventory"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// cloneOptions are the flags of a rehearsal on a clone.
type cloneOptions struct {
	use   bool
	class string
	need  time.Duration
	keep  bool
	yes   bool
}

func (o *cloneOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.use, "on-clone", false, "rehearse on a fast clone of the Aurora cluster, which is deleted afterwards")
	cmd.Flags().StringVar(&o.class, "class", "", "with --on-clone: the class of its instances, such as db.r6g.large (default that of the writer)")
	cmd.Flags().DurationVar(&o.need, "for", 6*time.Hour, "with --on-clone: how long the clone may exist; later, any Plimsoll that finds it may delete it")
	cmd.Flags().BoolVar(&o.keep, "keep-clone", false, "with --on-clone: do not delete it")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "with --on-clone: do not ask before it is created")
}

// check refuses what only a clone has where there is none.
func (o cloneOptions) check() error {
	if o.use || o.class == "" && !o.keep && !o.yes {
		return nil
	}
	return console.UsageError{Text: "--class, --keep-clone and --yes belong to a rehearsal on a clone", Hint: "add --on-clone, or leave them out"}
}

// onClone rehearses on a clone, and deletes it.
func (o rehearseOptions) onClone(ctx context.Context, c console.Streams, d *runs.Service, open opener, name string, p *execute.Prepared) (err error) {
	source, err := auroraOf(d, p.Header.Cluster)
	if err != nil {
		return err
	}
	on, err := d.Look(ctx, p.Header.Cluster)
	if err != nil {
		return err
	}
	nodes, err := on.PrimaryFirst(ctx)
	if err := errors.Join(err, on.Close()); err != nil {
		return err
	}
	size := min(len(nodes), 3) // one, a pair, or more: what the gate compares
	api, err := aws.OpenRDS(ctx, aws.Options{Region: source.AWS.Region, Profile: source.AWS.Profile, Every: source.AWS.Every})
	if err != nil {
		return err
	}
	class := o.clone.class
	if class == "" {
		if class, err = classOfWriter(ctx, api, source.AWS.Aurora); err != nil {
			return err
		}
	}
	made := &clone{name: p.Header.Cluster + "-rehearsal", id: cloneID(source.AWS.Aurora), of: p.Header.Cluster}
	if _, taken := d.Inventory.Clusters[made.name]; taken {
		return console.UsageError{Text: fmt.Sprintf("the inventory has a cluster %s, which is what the clone would be called", made.name), Hint: "rename that cluster, or write a trial with a clone of your own: docs/rds.md"}
	}
	if o.write {
		made.cluster.Nodes = make([]inventory.Node, size)
		_, err := writeRehearsal(ctx, c, d, name, o, p, made)
		return err
	}
	fmt.Fprintf(c.Err, "The rehearsal needs a clone of Aurora cluster %s: %s, with %s of class %s. AWS charges for its instances and for the pages that change.\n"+
		"It is deleted at the end; if that fails, any Plimsoll may delete it after %s.\n",
		source.AWS.Aurora, made.id, instances(size), class, time.Now().Add(o.clone.need).Format("2006-01-02 15:04"))
	if err := console.Confirm(c, o.clone.yes, "Create it?"); err != nil {
		return err
	}
	looks := d.Open
	d.Open = open
	defer func() { err = errors.Join(err, made.end(ctx, c, d, open, o.clone.keep)) }()
	inputs := []string{"name=" + made.id, "class=" + class, "for=" + o.clone.need.String(), fmt.Sprintf("readers=%d", size-1)}
	if made.run, err = runShipped(ctx, c, d, "aurora/clone", p.Header.Cluster, inputs); err != nil {
		return err
	}
	d.Open = looks
	if made.cluster, err = clonedCluster(ctx, api, source, made.id, nodes[:size]); err != nil {
		return err
	}
	d.Inventory.Clusters[made.name] = made.cluster
	parts := catalog.PartsFor(func() (*inventory.Inventory, error) { return d.Inventory, nil })
	return o.rehearseOn(ctx, c, d, name, p, place{parts: parts, clone: made})
}

// opener opens a cluster for who changes it.
type opener = func(ctx context.Context, name string) (*cluster.Cluster, error)

// auroraOf is a cluster of the inventory that is one of Aurora.
func auroraOf(d *runs.Service, name string) (inventory.Cluster, error) {
	c, listed := d.Inventory.Clusters[name]
	if !listed || c.AWS == nil || c.AWS.Aurora == "" {
		return c, console.UsageError{Text: fmt.Sprintf("%s is not an Aurora cluster of the inventory, so it has no fast clone", name),
			Hint: "leave --on-clone out, and a lab is used; if it is one of Aurora, set in " + inventory.File + ": aws: {region: …, aurora: NAME}"}
	}
	return c, nil
}

func classOfWriter(ctx context.Context, api *aws.RDS, id string) (string, error) {
	of, err := api.Aurora(ctx, id)
	if err != nil {
		return "", err
	}
	writer, err := api.Instance(ctx, of.Writer)
	if err != nil {
		return "", err
	}
	return writer.Class, nil
}

func instances(n int) string {
	if n == 1 {
		return "an instance"
	}
	return fmt.Sprintf("%d instances", n)
}

// runShipped runs a shipped runbook to its end. The run is "" where none began.
func runShipped(ctx context.Context, c console.Streams, d *runs.Service, name, on string, inputs []string) (run string, err error) {
	q := Request{Cluster: on, Inputs: inputs}
	p, err := q.prepare(ctx, d, name)
	if err != nil {
		return "", err
	}
	if err := q.planRefusal(p.Trouble(), name); err != nil {
		return "", err
	}
	if run, err = d.Begin(ctx, p); err != nil {
		return "", err
	}
	fmt.Fprintf(c.Err, "run %s: %s %s\n", run, name, strings.Join(inputs, " "))
	if err := executeRun(ctx, c, d, run, &journal.Command{Do: journal.DoRun}, false); err != nil {
		return run, err
	}
	st, err := d.State(ctx, run)
	if err == nil && st.Outcome != journal.RunDone {
		err = fmt.Errorf("run %s of %s is not done: %s", run, name, st.Outcome)
	}
	return run, err
}
