package advisecmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/advise/memory"
	"plimsoll/advise/price"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/lab"
	"plimsoll/report/advice"
	"plimsoll/report/quantity"
)

type memoryOptions struct {
	node           string
	sizes          []string
	Span, MaxStall time.Duration
	sql            bool
	json, markdown bool
}

func newMemory(c console.Streams) *cobra.Command {
	var o memoryOptions
	cmd := &cobra.Command{
		Use:   "memory CLUSTER",
		Short: "Predict reads from disk with more or less memory",
		Long: `Predict how much a MySQL or MariaDB server would read from disk with a larger or smaller buffer pool, without resizing it. The prediction
comes from lists of the cached pages, taken for some minutes, which show which pages leave the pool and how soon they are read again.

For a Cassandra or ScyllaDB ring it shows what the caches contain and answer, and what their counters reveal about another size.

Where Plimsoll can reach the machine, the server dumps the lists into its own file; elsewhere Plimsoll reads them by SQL, which needs the
PROCESS privilege. Plimsoll measures what this costs the server: it takes the first list from a replica if there is one, and
stops sampling when a list stalls the server for longer than --max-stall.`,
		Example: `  plimsoll advise memory shop
  plimsoll advise memory lab:demo --for 30s --sizes 256M,512M,1G
  plimsoll advise memory shop --node db2 --markdown > ticket.md`,
		Args:              console.Exactly("CLUSTER"),
		ValidArgsFunction: home.CompleteCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			return adviseMemory(cmd.Context(), c, args[0], o)
		},
	}
	o.add(cmd, 5*time.Minute)
	return cmd
}

// add gives a command the flags of a look at a server.
func (o *memoryOptions) add(cmd *cobra.Command, span time.Duration) {
	f := cmd.Flags()
	f.StringVar(&o.node, "node", "", "which node (default the primary)")
	f.DurationVar(&o.Span, "for", span, "how long to observe")
	f.StringSliceVar(&o.sizes, "sizes", nil, "sizes of the buffer pool to predict for, such as 32G,64G (default half to four times today's)")
	f.DurationVar(&o.MaxStall, "max-stall", 50*time.Millisecond, "longest time for which one list of pages may stall the server")
	f.BoolVar(&o.sql, "sql", false, "read the lists by SQL even where the server's dump file can be read")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown")
	console.Completing(cmd, "node", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return home.NodesOf(cmd.Context(), args[0]), cobra.ShellCompDirectiveNoFileComp
	})
}

func adviseMemory(ctx context.Context, c console.Streams, name string, o memoryOptions) (err error) {
	sizes, err := o.bytes()
	if err != nil {
		return err
	}
	place := Options{memoryOptions: o}
	in, err := place.input(time.Now())
	if err != nil {
		return err
	}
	on, _, deps, err := home.Look(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	if counting, err := countsCaches(ctx, on, o.node); err != nil {
		return err
	} else if counting != nil {
		return adviseCaches(ctx, c, deps, on.Name, counting, o)
	}
	in.Prices.Region = place.region(ctx, on.AWS)
	r, err := lookAtMemory(ctx, c, on, o, sizes)
	if err != nil {
		return err
	}
	at := findings.Own
	if on.AWS != nil {
		at = findings.RDS
	}
	if err := keepMemory(deps, r, at, in.Prices); err != nil {
		return err
	}
	switch {
	case o.json:
		return console.PrintJSON(c, r)
	case o.markdown:
		_, err = fmt.Fprint(c.Prose(), advice.MemoryMarkdown(r))
	default:
		width, _ := console.Terminal(c.Out)
		_, err = fmt.Fprint(c.Prose(), advice.Memory(r, max(width, 80)))
	}
	return err
}

// keepMemory keeps what was predicted, for the page and to be checked afterwards, and has the scoreboard told.
func keepMemory(deps lab.Deps, m *advise.Memory, at findings.Place, prices price.Of) error {
	r := findings.OfMemory(m, at, prices)
	if err := scored(deps, r); err != nil {
		return err
	}
	if r.Score != "" {
		m.Notes = append(m.Notes, r.Score)
	}
	return errors.Join(keepPrediction(deps, r), keepAdvice(deps, r))
}

// bytes reads the sizes.
func (o *memoryOptions) bytes() (sizes []int64, err error) {
	if o.Span < 4*time.Second {
		return nil, console.UsageError{Text: fmt.Sprintf("--for %s: expected 4s or more", o.Span)}
	}
	if o.MaxStall <= 0 {
		return nil, console.UsageError{Text: fmt.Sprintf("--max-stall %s: expected more than 0", o.MaxStall)}
	}
	if o.json && o.markdown {
		return nil, console.UsageError{Text: "--json and --markdown exclude each other"}
	}
	for _, text := range o.sizes {
		n, err := advise.ParseBytes(text)
		if err != nil {
			return nil, console.UsageError{Text: fmt.Sprintf("--sizes %q, expected sizes such as 512M or 64G", text)}
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// lookAtMemory looks at a node, after it has tried on a replica what a list costs.
func lookAtMemory(ctx context.Context, c console.Streams, on *cluster.Cluster, o memoryOptions, sizes []int64) (*advise.Memory, error) {
	node, err := askedNode(ctx, on, o.node)
	if err != nil {
		return nil, err
	}
	options := memory.Options{For: o.Span, MaxStall: o.MaxStall}
	if node.Machine != nil && !o.sql {
		options.Files = node.Machine
	}
	if err := tryOnReplica(ctx, c, on, node, options); err != nil {
		return nil, err
	}
	db, err := on.Database(ctx, node.Name)
	if err != nil {
		return nil, err
	}
	p := console.NewProgress(c, "observe "+node.Name)
	options.Say = func(done, total time.Duration, text string) {
		p.Update(int64(min(done, total)/time.Second), int64(total/time.Second), "seconds, "+text)
	}
	others := countOthers(ctx, on, node)
	seen, err := memory.Observe(ctx, db, options)
	p.Close()
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", node.Name, err)
	}
	r := memory.Reported(seen, sizes, uint64(seen.Began.Unix()))
	r.Cluster, r.Node = on.Name, node.Name
	r.Others = others.since(ctx, on)
	if nodes, err := on.List(ctx); err == nil && len(nodes) > 1 { // the observation is worth more than this note
		r.Notes = append(r.Notes, advise.OtherServers(node.Name, r))
	}
	return r, nil
}

// tryOnReplica takes one list from the first replica that answers, by its file where that is how the node's lists are taken: a list by SQL holds a
// server up for much longer, which would say nothing of the node.
func tryOnReplica(ctx context.Context, c console.Streams, on *cluster.Cluster, but cluster.Node, o memory.Options) error {
	nodes, err := on.List(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.Name == but.Name {
			continue
		}
		db, err := on.Database(ctx, n.Name)
		if err != nil {
			continue // one that is down is no place to try
		}
		if o.Files != nil {
			o.Files = n.Machine
		}
		took, err := memory.Pilot(ctx, db, o)
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		fmt.Fprintf(c.Err, "the replica %s listed its pages in %s\n", n.Name, quantity.Duration(took))
		return nil
	}
	return nil
}
