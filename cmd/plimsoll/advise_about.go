package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/hint"
)

func newAdviseStorage(c console) *cobra.Command {
	var o adviseOptions
	cmd := &cobra.Command{
		Use:   "storage CLUSTER",
		Short: "When the disk's burst ends, and what another volume would do and cost",
		Long: `Read what a server of MySQL or MariaDB asks of its disk, once a second for a while, and hold it against what its volume and its class give:
how long the burst lasts as it is and with each other volume (larger, four of 400 GiB on RDS, gp3, io2), what each costs a month, and what
the change itself does to the service. It reads counters alone. What was seen is what is foretold: look at the busiest hour.`,
		Example: `  plimsoll advise storage shop --class db.m5.2xlarge --volume gp2:800GiB --balance 20%
  plimsoll advise storage shop --volume io2:500GiB:8000 --for 10m --json`,
		Args: exactly("CLUSTER"), ValidArgsFunction: completeCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			return adviseAbout(cmd.Context(), c, args[0], o, "storage")
		},
	}
	o.addLook(cmd, time.Minute)
	o.addPlace(cmd)
	return cmd
}

func newAdviseCommit(c console) *cobra.Command {
	var o adviseOptions
	cmd := &cobra.Command{
		Use:   "commit CLUSTER",
		Short: "Where commits wait, and what each lever would give and could lose",
		Long: `Read where the commits of a server of MySQL or MariaDB wait, once a second for a while: the redo log, the binary log, a replica's
acknowledgement, the line before them. For each lever: the predicted time of a commit and rate with its interval, and what could be lost, in
seconds and in commits. Batching comes first: it gives up nothing. The trial that it names measures all of them.`,
		Example: "  plimsoll advise commit shop\n  plimsoll advise commit lab:demo --for 30s --json",
		Args:    exactly("CLUSTER"), ValidArgsFunction: completeCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			return adviseAbout(cmd.Context(), c, args[0], o, "commit")
		},
	}
	o.addLook(cmd, time.Minute)
	o.addPlace(cmd)
	return cmd
}

// addLook gives a command the flags of a look at a server's counters.
func (o *adviseOptions) addLook(cmd *cobra.Command, span time.Duration) {
	f := cmd.Flags()
	f.StringVar(&o.node, "node", "", "which node (default the primary)")
	f.DurationVar(&o.span, "for", span, "how long to look")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown")
}

// adviseAbout looks at what a server does, and says what follows from it about one thing.
func adviseAbout(ctx context.Context, c console, name string, o adviseOptions, about string) error {
	r, err := adviceAbout(ctx, c, name, o, about)
	if err != nil {
		return err
	}
	return showAdvice(c, r, o.adviseMemoryOptions)
}

func adviceAbout(ctx context.Context, c console, name string, o adviseOptions, about string) (r *advise.Report, err error) {
	if o.span < 4*time.Second {
		return nil, usageError{text: fmt.Sprintf("--for %s: expected 4s or more", o.span)}
	}
	if o.json && o.markdown {
		return nil, usageError{text: "--json and --markdown are for different readers"}
	}
	in, err := o.input(time.Now())
	if err != nil {
		return nil, err
	}
	inv, deps, err := surroundings()
	if err != nil {
		return nil, err
	}
	site, err := lookAtSite(ctx, name, inv, deps)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	node, err := site.Node(ctx, o.node)
	if err != nil {
		return nil, err
	}
	nodes, err := site.List(ctx)
	if err != nil {
		return nil, err
	}
	in.Cluster, in.Node, in.Replicas = site.Name, node.Name, len(nodes) > 1
	in.Volume = cmp.Or(in.Volume, volumeOf(inv, site.Name, node.Name))
	if about == "storage" && in.Volume == nil {
		return nil, hint.With(usageError{text: "what the data lies on is not known, and so neither its limits nor its price"},
			"--volume gp2:800GiB, or volume in the inventory")
	}
	if in.Seen, err = lookAtServer(ctx, c, site, node, inv, deps, o.span); err != nil {
		return nil, err
	}
	r = findings.Report(in)
	r.Findings = slices.DeleteFunc(r.Findings, func(f advise.Finding) bool { return f.About != about })
	if about == "commit" {
		r.Unknown = nil // what it runs on does not matter for it
	}
	r.Unknown = append(r.Unknown, fmt.Sprintf("What was seen: %d seconds from %s. Another hour may ask for more.", in.Seen.Seconds, in.Seen.Began.UTC().Format("2006-01-02 15:04 MST")))
	if len(r.Findings) == 0 {
		r.Unknown = append(r.Unknown, map[string]string{
			"commit":  "There was no commit while it was looked at: look while the service works.",
			"storage": "The server shows no operations on its disk: the user needs to see SHOW GLOBAL STATUS.",
		}[about])
	}
	return r, errors.Join(scored(deps, r), keepPrediction(deps, r))
}
