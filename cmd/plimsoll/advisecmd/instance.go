package advisecmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/advise"
	"plimsoll/advise/fleet"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/inventory"
	"plimsoll/report/advice"
	"plimsoll/watch/store"
)

type instanceOptions struct {
	Options
	classes []string
	since   string
	every   time.Duration
}

func newInstance(c console.Streams) *cobra.Command {
	var o instanceOptions
	cmd := &cobra.Command{
		Use:   "instance [CLUSTER…]",
		Short: "Check by the history of plimsoll watch whether instance classes are too small or too large",
		Long: `Compare the whole history of plimsoll watch with the limits of the instance classes: processors, disk operations, bytes sent and connections, at P95 and at the maximum.
If a class is too small, larger ones are listed; if it has headroom, cheaper ones into which the whole history would have fitted (70 % of the
processors, operations and network) and that have the memory for the buffer pool. A smaller class is only named from two weeks of history on.

The command connects to no server. It does not predict future load, the speed of other processors, or reads with less memory.`,
		Example: `  plimsoll advise instance --class db.r5.4xlarge
  plimsoll advise instance shop --class shop=db.r6g.2xlarge --class shop/n2=db.r6g.xlarge --since 30d --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return adviseInstance(cmd.Context(), c, args, o) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.classes, "class", nil, "class of all instances, of a cluster (shop=db.r6g.2xlarge) or of one (shop/n1=…); may be repeated")
	f.StringVar(&o.since, "since", "30d", "how far back to look")
	f.DurationVar(&o.every, "every", 5*time.Minute, "length of the spans to average over")
	f.StringVar(&o.Region, "region", "", regionHelp)
	f.StringVar(&o.prices, "prices", "", "price file that overrides the built-in catalogue")
	f.StringVar(&o.discount, "discount", "", "discount of your account, such as 20%")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown")
	return cmd
}

func adviseInstance(ctx context.Context, c console.Streams, names []string, o instanceOptions) (err error) {
	back, err := store.Duration(o.since)
	if err != nil || back < time.Hour || o.every < 10*time.Second {
		return console.UsageError{Text: fmt.Sprintf("--since %q, --every %s: expected such as 30d, and 10s or more", o.since, o.every)}
	}
	if o.json && o.markdown {
		return console.UsageError{Text: "--json and --markdown exclude each other"}
	}
	now := time.Now()
	in, err := o.input(now)
	if err != nil {
		return err
	}
	classes := map[string]string{}
	for _, text := range o.classes {
		of, class, one := strings.Cut(text, "=")
		if !one {
			of, class = "", text
		}
		if err := knownClass(class, in.Prices.Catalogue); err != nil {
			return err
		}
		classes[of] = class
	}
	inv, err := inventory.Open()
	if err != nil {
		return err
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	kept, err := store.Look(filepath.Join(home.WatchFolder(deps), "series"))
	if err != nil {
		return console.UsageError{Text: err.Error(), Hint: "plimsoll watch records them while it runs"}
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	all, err := fleet.Advise(ctx, kept, fleet.Span{From: now.Add(-back).Truncate(o.every), To: now.Truncate(o.every), Every: o.every}, in.Prices, o.places(ctx, inv, classes))
	if err != nil {
		return err
	}
	shown := []*advise.Report{}
	for _, r := range all {
		if len(names) == 0 || of(names, r) {
			shown = append(shown, r)
		}
	}
	if len(shown) == 0 {
		return console.UsageError{Text: fmt.Sprintf("there is no history of these instances over a whole span of %s", o.every), Hint: "plimsoll watch records it while it runs; --every 10s takes shorter spans"}
	}
	for _, r := range shown {
		if err := keepObserved(deps, r); err != nil {
			return err
		}
	}
	if o.json {
		return console.PrintJSON(c, shown)
	}
	width, _ := console.Terminal(c.Out)
	for i, r := range shown {
		if i > 0 {
			fmt.Fprintln(c.Out)
		}
		text := advice.Text(r, max(width, 80))
		if o.markdown {
			text = advice.Markdown(r)
		}
		fmt.Fprint(c.Prose(), text)
	}
	return nil
}

// places tells of each instance what its class is, by the flags for it, its cluster or all, and by the inventory which region's prices count and whether RDS
// can change it.
func (o *instanceOptions) places(ctx context.Context, inv *inventory.Inventory, classes map[string]string) func(cluster, node string) fleet.Place {
	regions := map[string]string{}
	return func(name, node string) (p fleet.Place) {
		for _, of := range []string{"", name, name + "/" + node} {
			if class, given := classes[of]; given {
				p.Class = class
			}
		}
		if _, known := regions[name]; !known {
			var at *cluster.AWS
			if a := inv.Clusters[name].AWS; a != nil {
				at = &cluster.AWS{Region: a.Region, Profile: a.Profile}
			}
			regions[name] = o.region(ctx, at)
		}
		p.Region = regions[name]
		p.RDS = inv.Clusters[name].AWS != nil && slices.ContainsFunc(inv.Clusters[name].Nodes, func(n inventory.Node) bool { return n.Name == node && n.Instance != "" })
		return p
	}
}

func of(names []string, r *advise.Report) bool {
	for _, name := range names {
		if name == r.Cluster || name == r.Cluster+"/"+r.Node {
			return true
		}
	}
	return false
}
