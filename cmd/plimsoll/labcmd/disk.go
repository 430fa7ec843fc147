package labcmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/infra/disk/pace"
	"plimsoll/lab"
	"plimsoll/lab/forgetful"
	"plimsoll/report/quantity"
)

func newDisk(c console.Streams) *cobra.Command {
	var set string
	cmd := &cobra.Command{
		Use: "disk NAME", ValidArgsFunction: home.CompleteLabs,
		Short: "Show the emulated disks of a cluster, or change them while it runs",
		Long: `Show the present limits of the disks of a cluster that was created with --disk, and how full their burst buckets are. With --set they become
another volume at once and keep their credits.`,
		Example: "  plimsoll lab disk demo\n  plimsoll lab disk demo --set gp3:800GiB,scale=1/10",
		Args:    console.Exactly("NAME"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runLabDisk(cmd.Context(), c, args[0], set) },
	}
	cmd.Flags().StringVar(&set, "set", "", "new disk for every node: gp3:800GiB, or io2:1TiB:20000 with its IOPS; optionally followed by ,balance=5% ,scale=1/10")
	return cmd
}

func runLabDisk(ctx context.Context, c console.Streams, name, set string) (err error) {
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	open := lab.Look
	var disk *pace.Disk
	if set != "" {
		if disk, err = lab.ParseDisk(set); err != nil {
			return usageErrorOf("--set "+set, err)
		}
		open = lab.Open
	}
	cluster, err := open(ctx, name, deps)
	if errors.Is(err, lab.ErrNoCluster) {
		return console.UsageError{Text: err.Error(), Hint: hint.Of(err)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	if disk != nil {
		if err := cluster.SetDisk(ctx, disk); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tGIVES A SECOND\tBUCKET\tREADS\tWRITES")
	for _, node := range cluster.Nodes() {
		s, err := cluster.Server(node.Name).DiskState(ctx)
		if errors.Is(err, lab.ErrNoDisk) {
			return console.UsageError{Text: fmt.Sprintf("%s has no disk with limits", name), Hint: "plimsoll lab up mariadb --disk gp2:800GiB"}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", node.Name, quantity.Number(s.IOPS), bucketOf(s), s.Reads, s.Writes)
	}
	return w.Flush()
}

// bucketOf is how full the burst bucket of a disk is, if it has one: one that is full has credits.
func bucketOf(s forgetful.DiskState) string {
	if s.Balance == 1 && s.Credits == 0 {
		return "none"
	}
	return quantity.Number(math.Round(s.Balance*1e6)/1e4) + " %"
}

// usageErrorOf is the refusal of what a person typed, with the advice of its cause.
func usageErrorOf(typed string, err error) error {
	u := console.UsageError{Text: typed + ": " + err.Error()}
	var h console.Hinted
	if errors.As(err, &h) {
		u.Hint = h.Hint()
	}
	return u
}
