package advisecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
)

func newStorage(c console.Streams) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "storage CLUSTER",
		Short: "Predict when the disk's burst ends, and what another volume would do and cost",
		Long: `Read the disk I/O of a MySQL or MariaDB server once a second for a while, and compare it with the limits of its volume and class:
how long the burst lasts now and with other volumes (larger, four of 400 GiB on RDS, gp3, io2), what each costs a month, and what
the change itself does to the service. It only reads counters. The prediction is only as good as the period observed: run it in the busiest hour.`,
		Example: `  plimsoll advise storage shop --class db.m5.2xlarge --volume gp2:800GiB --balance 20%
  plimsoll advise storage shop --volume io2:500GiB:8000 --for 10m --json`,
		Args: console.Exactly("CLUSTER"), ValidArgsFunction: home.CompleteCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			return adviseAbout(cmd.Context(), c, args[0], o, "storage")
		},
	}
	o.addLook(cmd, time.Minute)
	o.addPlace(cmd)
	return cmd
}

func newCommit(c console.Streams) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "commit CLUSTER",
		Short: "Show where commits wait, and what each setting would gain and could lose",
		Long: `Read once a second for a while where the commits of a MySQL or MariaDB server wait: the redo log, the binary log, a replica's
acknowledgement, or the commit queue. For each setting that helps, print the predicted commit time and rate with their intervals, and what
could be lost, in seconds and in commits. Batching comes first, because it gives up no durability. The trial that the advice names measures all of them.`,
		Example: "  plimsoll advise commit shop\n  plimsoll advise commit lab:demo --for 30s --json",
		Args:    console.Exactly("CLUSTER"), ValidArgsFunction: home.CompleteCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			return adviseAbout(cmd.Context(), c, args[0], o, "commit")
		},
	}
	o.addLook(cmd, time.Minute)
	o.addPlace(cmd)
	return cmd
}

// addLook gives a command the flags of a look at a server's counters.
func (o *Options) addLook(cmd *cobra.Command, span time.Duration) {
	f := cmd.Flags()
	f.StringVar(&o.node, "node", "", "which node (default the primary)")
	f.DurationVar(&o.Span, "for", span, "how long to observe")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown")
}

// adviseAbout looks at what a server does, and says what follows from it about one thing.
func adviseAbout(ctx context.Context, c console.Streams, name string, o Options, about string) error {
	r, err := adviceAbout(ctx, c, name, o, about)
	if err != nil {
		return err
	}
	return shownAll(c, r, o.memoryOptions)
}

func adviceAbout(ctx context.Context, c console.Streams, name string, o Options, about string) (r *advise.Report, err error) {
	if o.Span < 4*time.Second {
		return nil, console.UsageError{Text: fmt.Sprintf("--for %s: expected 4s or more", o.Span)}
	}
	if o.json && o.markdown {
		return nil, console.UsageError{Text: "--json and --markdown exclude each other"}
	}
	in, err := o.input(time.Now())
	if err != nil {
		return nil, err
	}
	on, inv, deps, err := home.Look(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	node, err := askedNode(ctx, on, o.node)
	if err != nil {
		return nil, err
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return nil, err
	}
	in.Cluster, in.Node, in.Replicas = on.Name, node.Name, len(nodes) > 1
	if err := o.runsOn(ctx, &in, on, inv); err != nil {
		return nil, err
	}
	if about == "storage" && in.Volume == nil && in.Aurora == nil {
		return nil, console.UsageError{Text: "the volume of the data is unknown, and so are its limits and its price", Hint: "name the volume with --volume, such as --volume gp2:800GiB, or with volume: in the inventory"}
	}
	if in.Seen, err = lookAtServer(ctx, c, on, node, inv, deps, o.Span); err != nil {
		return nil, err
	}
	if err := o.bucketNow(ctx, &in, on); err != nil {
		return nil, err
	}
	r = findings.Report(in)
	r.Findings = slices.DeleteFunc(r.Findings, func(f advise.Finding) bool { return f.About != about })
	r.Observed = slices.DeleteFunc(r.Observed, func(of string) bool { return of != about })
	if about == "commit" {
		r.Unknown = slices.DeleteFunc([]string{in.Seen.Changed}, func(s string) bool { return s == "" }) // what it runs on does not matter for it
	}
	r.Unknown = append(r.Unknown, fmt.Sprintf("Observed: %d seconds from %s. Another hour may need more.", in.Seen.Seconds, in.Seen.Began.UTC().Format("2006-01-02 15:04 MST")))
	if len(r.Findings) == 0 {
		r.Unknown = append(r.Unknown, map[string]string{
			"commit":  "No commit happened during the observation. Observe while the service is under its usual load.",
			"storage": "No disk operation was seen during the observation. Observe for longer (--for), while the service is under its usual load. The account must be able to run SHOW GLOBAL STATUS.",
		}[about])
	}
	return r, errors.Join(scored(deps, r), keepPrediction(deps, r), keepAdvice(deps, r))
}
