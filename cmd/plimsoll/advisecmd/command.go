// Package advisecmd has the commands of plimsoll advise.
package advisecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/advise/memory"
	"plimsoll/advise/price"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/report/advice"
	"plimsoll/watch/storage"
)

type Options struct {
	memoryOptions

	Class, Region    string
	Volume, balance  string
	prices, discount string
	multiAZ          bool
}

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "advise CLUSTER",
		Short: "Recommend what to change next, with size, price, predicted effect and error",
		Long: `Observe a running database for some minutes and report what limits it now or soon will. Each finding comes with its evidence and its options;
each option with its predicted effect and interval, its monthly price, its risk and how to undo it. Leaving things as they are is one of the
options. Advice never goes beyond what was predicted or measured, and it names what it does not know.

--class and --volume tell what the database runs on; the volume can also be set in the inventory. Prices come from a dated catalogue; a price
file of your own and a discount override it.`,
		Example: `  plimsoll advise shop --class db.m5.2xlarge --volume gp2:800GiB --balance 20%
  plimsoll advise shop --class db.r6g.4xlarge --volume gp3:800GiB --prices ours.yaml --discount 30% --markdown > ticket.md
  plimsoll advise lab:demo --for 30s --json`,
		Args:              console.Exactly("CLUSTER"),
		ValidArgsFunction: home.CompleteCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			return adviseCluster(cmd.Context(), c, args[0], o)
		},
	}
	o.add(cmd, time.Minute)
	o.addPlace(cmd)
	cmd.AddCommand(newMemory(c), newStorage(c), newCommit(c), newCheck(c), newInstance(c))
	return cmd
}

// addPlace gives a command the flags that say what a database runs on, and what that costs.
func (o *Options) addPlace(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Class, "class", "", "class of the instance, such as db.m5.2xlarge")
	f.StringVar(&o.Volume, "volume", "", "volume of the data: gp2:800GiB, io2:1TiB:20000 with its provisioned IOPS, or gp3:800GiB:12000:700 with its MiB/s too (default from the inventory, RDS, or the lab's disk)")
	f.BoolVar(&o.multiAZ, "multi-az", false, "a Multi-AZ standby exists, which doubles the price")
	f.StringVar(&o.balance, "balance", "", "how full the volume's burst bucket is, such as 35% (default: as CloudWatch or the lab shows it, else assumed full)")
	f.StringVar(&o.Region, "region", "", regionHelp)
	f.StringVar(&o.prices, "prices", "", "price file that overrides the built-in catalogue (default: the one that plimsoll prices update wrote)")
	f.StringVar(&o.discount, "discount", "", "discount of your account, such as 20%")
	console.Completing(cmd, "class", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		catalogue, err := price.Load("")
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return catalogue.ClassNames(), cobra.ShellCompDirectiveNoFileComp
	})
}

func adviseCluster(ctx context.Context, c console.Streams, name string, o Options) error {
	r, err := Advised(ctx, c, name, o)
	if err != nil {
		return err
	}
	return shownAll(c, r, o.memoryOptions)
}

// Advised looks at a cluster's database and keeps what follows from it, for the page.
func Advised(ctx context.Context, c console.Streams, name string, o Options) (r *advise.Report, err error) {
	sizes, err := o.bytes()
	if err != nil {
		return nil, err
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
	in.Cluster = on.Name
	if err := o.runsOn(ctx, &in, on, inv); err != nil {
		return nil, err
	}
	in.Asked = sizes
	sizes = slices.Compact(slices.Sorted(slices.Values(slices.Concat(sizes, in.Sizes()))))
	looking, stop := context.WithCancel(ctx)
	defer stop()
	statements, err := followStatements(looking, on, o.node, o.Span)
	if err != nil {
		return nil, err
	}
	counters, err := followCounters(looking, on, o.node, inv, deps, o.Span)
	if err != nil {
		return nil, err
	}
	defer counters.wait() // the cluster is closed after it
	defer stop()          // it ends at once where this leaves early
	in.Memory, err = lookAtMemory(ctx, c, on, o.memoryOptions, sizes)
	var unable *memory.Unable
	if err != nil && !errors.As(err, &unable) {
		stop()
	}
	var failed error
	in.Statements, failed = statements.statements(looking, in.Memory)
	if err == nil && failed != nil {
		return nil, failed
	}
	switch {
	case unable != nil:
		in.NoMemory = unable.Reason + ". " + sentence(unable.Advice)
	case err != nil:
		return nil, err
	}
	in.Node, in.Replicas, in.Whole = counters.node.Name, counters.replicas, true
	var unseen string
	in.Seen, unseen = counters.seen()
	if err := cmp.Or(ctx.Err(), o.bucketNow(ctx, &in, on)); err != nil {
		return nil, err
	}
	r = findings.Report(in)
	if unseen != "" {
		r.Unknown = append(r.Unknown, unseen)
	}
	if err := errors.Join(scored(deps, r), keepPrediction(deps, r)); err != nil {
		return nil, err
	}
	return r, keepAdvice(deps, r)
}

// sentence writes the advice of an error as one.
func sentence(advice string) string {
	first, size := utf8.DecodeRuneInString(advice)
	return string(unicode.ToUpper(first)) + advice[size:] + "."
}

// shownAll shows advice, and is an error where nothing could be observed: then there is none.
func shownAll(c console.Streams, r *advise.Report, o memoryOptions) error {
	if err := showAdvice(c, r, o); err != nil || len(r.Observed)+len(r.Findings) > 0 {
		return err
	}
	return hint.With(errors.New("there is no advice, because nothing could be observed on which it could be based"), "the messages above say why, and what to change")
}

func showAdvice(c console.Streams, r *advise.Report, o memoryOptions) error {
	var err error
	switch {
	case o.json:
		return console.PrintJSON(c, r)
	case o.markdown:
		_, err = fmt.Fprint(c.Prose(), advice.Markdown(r))
	default:
		width, _ := console.Terminal(c.Out)
		_, err = fmt.Fprint(c.Prose(), advice.Text(r, max(width, 80)))
	}
	return err
}

// volumeOf is what the inventory says that a node's data lies on; nil: nothing.
func volumeOf(inv *inventory.Inventory, cluster, node string) *storage.Volume {
	for _, n := range inv.Clusters[cluster].Nodes {
		if n.Name == node {
			return n.Volume
		}
	}
	return nil
}

// input reads what the flags say of the place that the database runs in.
func (o *Options) input(now time.Time) (findings.Input, error) {
	in := findings.Input{At: now, Class: o.Class, Balance: math.NaN(), MultiAZ: o.multiAZ}
	if o.prices == "" { // what plimsoll prices update has written, if it has
		file, err := home.PricesFile()
		if err != nil {
			return in, err
		}
		if _, err := os.Stat(file); err == nil {
			o.prices = file
		}
	}
	catalogue, err := price.Load(o.prices)
	if err != nil {
		return in, err
	}
	if err := catalogue.Check(now); err != nil {
		return in, console.UsageError{Text: o.prices + ": " + err.Error(), Hint: "write the day on which the prices were read"}
	}
	in.Prices = price.Of{Catalogue: catalogue, Now: now}
	if o.Class != "" {
		if err := knownClass(o.Class, catalogue); err != nil {
			return in, err
		}
	}
	if o.discount != "" {
		if in.Prices.Discount, err = share(o.discount); err != nil {
			return in, console.UsageError{Text: "--discount " + err.Error()}
		}
	}
	if o.balance != "" {
		if in.Balance, err = share(o.balance); err != nil {
			return in, console.UsageError{Text: "--balance " + err.Error()}
		}
	}
	if o.Volume != "" {
		if in.Volume, err = ParseCloudVolume(o.Volume, price.Managed(o.Class)); err != nil {
			return in, console.UsageError{Text: fmt.Sprintf("--volume %q: %v", o.Volume, err), Hint: "gp2:800GiB, or io2:1TiB:20000 with its operations a second"}
		}
	}
	return in, nil
}

// knownClass refuses a class that is not in the catalogue.
func knownClass(class string, of *price.Catalogue) error {
	if _, known := of.Classes[class]; known {
		return nil
	}
	advice := "define it in a price file of your own: --prices FILE"
	if near := document.Nearest(class, of.ClassNames()); near != "" {
		advice = "did you mean " + near + "?"
	}
	return console.UsageError{Text: fmt.Sprintf("unknown class %q", class), Hint: advice}
}

// share reads 20% or 0.2.
func share(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, fmt.Errorf("%q, expected a share such as 20%%", text)
	}
	return v, nil
}

// ParseCloudVolume reads TYPE:SIZE, TYPE:SIZE:IOPS or TYPE:SIZE:IOPS:MIBS. One of an instance with a class of RDS is managed.
func ParseCloudVolume(text string, managed bool) (*storage.Volume, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 4 {
		return nil, errors.New("expected a type and a size")
	}
	v := &storage.Volume{Type: parts[0], Managed: managed}
	bytes, err := advise.ParseBytes(parts[1])
	if err != nil {
		return nil, err
	}
	v.GiB = float64(bytes) / (1 << 30)
	if len(parts) >= 3 {
		if v.IOPS, err = strconv.ParseFloat(parts[2], 64); err != nil || v.IOPS <= 0 {
			return nil, fmt.Errorf("%q is not a number of operations per second", parts[2])
		}
	}
	if len(parts) == 4 {
		if v.MiBs, err = strconv.ParseFloat(parts[3], 64); err != nil || v.MiBs <= 0 || v.Type != "gp3" {
			return nil, fmt.Errorf("%q is not a throughput in MiB per second of gp3", parts[3])
		}
	}
	if err := v.Check(); err != nil {
		return nil, err
	}
	return v, v.Sold()
}
