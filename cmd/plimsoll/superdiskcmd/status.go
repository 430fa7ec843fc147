package superdiskcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/superdisk"
)

// superdiskStatus is what plimsoll superdisk status was asked for.
type superdiskStatus struct {
	cluster string
	asJSON  bool
	watch   bool
	every   time.Duration
}

// superdiskNode is what one machine answered, as --json has it.
type superdiskNode struct {
	Node string `json:"node"`
	superdisk.Status
	superdisk.Disks
	Advice map[string][]superdisk.Advice `json:"advice,omitempty"` // by the array's device; by the UUID of one that is stopped; by the place of a disk that is mounted
	Record map[string]superdisk.Record   `json:"record,omitempty"` // by the array's device; by the UUID of one that is stopped
	Error  string                        `json:"error,omitempty"`

	failed     error // of which Error is the text
	unrecorded bool  // what the machine's arrays are like
}

// fails adds an error to what the look could not do.
func (n *superdiskNode) fails(err error) {
	if n.failed = errors.Join(n.failed, err); n.failed != nil {
		n.Error = n.failed.Error()
	}
}

func newStatus(c console.Streams) *cobra.Command {
	var o superdiskStatus
	cmd := &cobra.Command{
		ValidArgsFunction: completeOneCluster,
		Use:               "status [CLUSTER]",
		Short:             "Show the legs of each node's array, the progress of a rebuild, and what to do next",
		Long: `Show the RAID1 arrays of each node of a cluster, or of this machine: both legs with their device, volume, state and errors, since when
they are in step, how far a missing leg is behind, the progress of a rebuild and its limits, which leg serves reads (by the kernel's
counters), whether this kernel is suitable, how the legs compared last, and what to do next. Where no array runs, as after a start of the
machine, it shows the arrays that are stopped, and the runbook that starts them.

The command reads one page of each leg in a separate process, so a disk that hangs cannot block it; with --watch, only of legs that have
answered no request since the check before. Each result is recorded in
$PLIMSOLL_HOME: a network leg that fell behind does not know it, and an emergency start from it is refused by this record. Keep --watch
running where the record must be complete: where the volumes have a provider, it also records each change on them, as the tag plimsoll-leg,
and once a minute that nothing has changed, for Plimsoll on other hosts.`,
		Example: `  plimsoll superdisk status
  plimsoll superdisk status orders --watch
  plimsoll superdisk status orders --json`,
		Args: console.Some(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.cluster = args[0]
			}
			return o.run(cmd.Context(), c)
		},
	}
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON; with --watch, one object per line and check")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "check repeatedly until Ctrl-C")
	cmd.Flags().DurationVar(&o.every, "every", 2*time.Second, "interval of --watch")
	return cmd
}

// completeOneCluster offers the clusters of the inventory and of the lab.
func completeOneCluster(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	deps, err := home.LabDeps()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	inv, err := inventory.Open()
	if err != nil {
		inv = &inventory.Inventory{}
	}
	return home.ClusterNames(cmd.Context(), inv, deps), cobra.ShellCompDirectiveNoFileComp
}

// place is a machine that is looked at.
type place struct {
	cluster, node string // "": this machine, of no cluster
	data          string // the node's data folder; "": not known
	machine       infra.Machine
	volumes       infra.Volumes // on which legs are recorded too; nil: there is no provider
}

func (o superdiskStatus) run(ctx context.Context, c console.Streams) error {
	if o.every < 100*time.Millisecond {
		return console.UsageError{Text: fmt.Sprintf("--every %s, expected 100ms or more", o.every), Hint: "plimsoll superdisk status --help"}
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	places, release, err := o.places(ctx, deps)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // nothing was changed
	folder, err := superdisk.Folder(os.Getenv)
	if err != nil {
		return err
	}
	records := superdisk.Records{Machine: deps.Machine, Folder: folder}
	w := watch{places: places, records: records}
	look := func() []superdiskNode { return w.look(ctx, !o.watch) } // a watch reads no other disks where an array runs
	if !o.watch {
		return o.once(ctx, c, look)
	}
	return o.repeat(ctx, c, look)
}

// watch looks at places again and again. The zero value of what is kept has seen nothing yet.
type watch struct {
	places  []place
	records superdisk.Records
	kept    map[string]*watched // by the node
	tagger  superdisk.Tagger
}

// look looks at each place once; a watch, which is not thorough, records on the volumes, too, what it sees.
func (w *watch) look(ctx context.Context, thorough bool) (all []superdiskNode) {
	if w.kept == nil {
		w.kept = map[string]*watched{}
	}
	for _, p := range w.places {
		if w.kept[p.node] == nil {
			w.kept[p.node] = &watched{}
		}
		all = append(all, p.look(ctx, w.kept[p.node], w.records, thorough))
	}
	if thorough {
		return all
	}
	ctx, cancel := w.tagger.Round(ctx)
	defer cancel()
	for i, p := range w.places {
		tagging := w.records
		if tagging.Volumes = p.volumes; !all[i].unrecorded {
			all[i].fails(w.tagger.Note(ctx, tagging, all[i].Status))
		}
	}
	return all
}

// repeat looks again and again, until it is interrupted.
func (o superdiskStatus) repeat(ctx context.Context, c console.Streams, look func() []superdiskNode) error {
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for {
		all := look()
		if ctx.Err() != nil {
			return nil // Ctrl-C is how a watch ends
		}
		if err := o.print(c, all); err != nil {
			return err
		}
		if err := o.failures(all); err != nil && !o.asJSON { // JSON has it
			_ = console.Tell(c, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// once looks, and once more a second later where requests are under way: only two looks tell whether they end.
func (o superdiskStatus) once(ctx context.Context, c console.Streams, look func() []superdiskNode) error {
	all := look()
	if busy(all) {
		select {
		case <-time.After(time.Second):
			all = look()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := o.print(c, all); err != nil {
		return err
	}
	return o.failures(all)
}

// failures is what could not be looked at.
func (o superdiskStatus) failures(all []superdiskNode) error {
	var failed error
	for _, n := range all {
		if n.failed == nil {
			continue
		}
		err := fmt.Errorf("node %s: %w", n.Node, n.failed)
		if n.At.IsZero() && o.cluster != "" {
			err = hint.With(err, fmt.Sprintf("nothing is known of its disks. Start its machine, if that does not run; if it is lost: plimsoll runbook plan superdisk/recover-node --cluster %s -i lost=%s -i to=%s -i network=%[3]s -i local=%[3]s -i mount=%[3]s",
				hint.Quoted(o.cluster), hint.Quoted(n.Node), hint.FillIn))
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func busy(all []superdiskNode) bool {
	for _, n := range all {
		for _, a := range n.Arrays {
			for _, l := range a.Legs {
				if l.IO.InFlight > 0 {
					return true
				}
			}
		}
	}
	return false
}

// places are the machines of the cluster, or this one.
func (o superdiskStatus) places(ctx context.Context, deps lab.Deps) ([]place, func() error, error) {
	if o.cluster == "" {
		return []place{{machine: deps.Machine}}, func() error { return nil }, nil
	}
	inv, err := inventory.Open()
	if err != nil {
		return nil, nil, err
	}
	on, err := home.LookAtCluster(ctx, o.cluster, inv, deps)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, on.Close())
	}
	var all []place
	for _, n := range append(nodes, on.Spares...) {
		if n.Machine != nil {
			all = append(all, place{o.cluster, n.Name, n.Data, n.Machine, on.Volumes})
		}
	}
	if len(all) == 0 {
		err := hint.With(fmt.Errorf("commands cannot be run on the machine of any node of %s", o.cluster), "set machine: for its nodes in "+inventory.File)
		return nil, nil, errors.Join(err, on.Close())
	}
	return all, on.Close, nil
}

// watched is what is kept of a place from look to look.
type watched struct {
	superdisk.Watch
}

// look looks at a place and records what it sees.
func (p place) look(ctx context.Context, w *watched, records superdisk.Records, thorough bool) superdiskNode {
	n := superdiskNode{Node: p.node, Advice: map[string][]superdisk.Advice{}, Record: map[string]superdisk.Record{}}
	s, err := superdisk.Inspect(ctx, p.machine)
	var unrecorded error
	if err == nil {
		w.See(&s)
		if err = s.PingSilent(ctx, p.machine); err == nil {
			s.Measure(ctx, p.machine)
		}
		unrecorded = records.Note(ctx, s)
		err = errors.Join(err, unrecorded)
		if thorough || !slices.ContainsFunc(s.Arrays, superdisk.Array.Running) {
			var unseen error
			n.Disks, unseen = superdisk.FindStopped(ctx, p.machine, s)
			err = errors.Join(err, unseen)
		}
	}
	n.Status, n.failed, n.unrecorded = s, err, unrecorded != nil
	for i := range s.Arrays {
		a := &s.Arrays[i]
		records.Volumes = p.tags(thorough || !a.Running())
		r, err := recorded(ctx, records, a.UUID, keys(a.Legs, superdisk.Leg.Key))
		if unrecorded == nil || !a.Running() { // else the note has told of it
			n.failed = errors.Join(n.failed, err)
		}
		r.Complete(a)
		n.Record[a.Device], n.Advice[a.Device] = r, p.named(superdisk.Advise(*a, s.Kernel, r)...)
	}
	for _, a := range n.Stopped {
		records.Volumes = p.volumes
		r, err := recorded(ctx, records, a.UUID, keys(a.Legs, superdisk.StoppedLeg.Key))
		n.Record[a.UUID] = r
		if is, there := s.Find(a.UUID); there && is.Running() {
			continue
		}
		advice := a.Advise(r, time.Now())
		if err != nil {
			advice, n.failed = a.Unrecorded(), errors.Join(n.failed, err)
		}
		n.Advice[a.UUID] = p.named(advice)
	}
	n.fails(nil)
	n.Mounted = slices.DeleteFunc(n.Mounted, func(d superdisk.Mounted) bool { return !p.holds(d, n.Mounted) })
	for _, d := range n.Mounted {
		n.Advice[d.At] = p.named(d.Advise())
	}
	return n
}

// tags are the volumes whose tags are read: a watch of an array that runs goes by what it sees, and asks no provider every two seconds.
func (p place) tags(read bool) infra.Volumes {
	if !read {
		return nil
	}
	return p.volumes
}

func keys[L any](legs []L, key func(L) string) (all []string) {
	for _, l := range legs {
		all = append(all, key(l))
	}
	return all
}

// recorded is what is recorded of an array, here and on the volumes of its legs and of those that it had.
func recorded(ctx context.Context, records superdisk.Records, uuid string, legs []string) (superdisk.Record, error) {
	r, err := records.Read(ctx, uuid)
	if err != nil {
		return r, err
	}
	for leg := range r.Legs {
		if !slices.Contains(legs, leg) {
			legs = append(legs, leg)
		}
	}
	return records.Of(ctx, uuid, legs...)
}

// holds tells whether a disk is the one that has the node's data: of those on whose mounts the folder lies the nearest.
func (p place) holds(d superdisk.Mounted, all []superdisk.Mounted) bool {
	if p.data == "" || d.At == "/" || !below(p.data, d.At) {
		return false
	}
	return !slices.ContainsFunc(all, func(o superdisk.Mounted) bool { return len(o.At) > len(d.At) && below(p.data, o.At) })
}

func below(folder, at string) bool {
	return strings.HasPrefix(folder+"/", strings.TrimSuffix(at, "/")+"/")
}

// named puts the names of this place into the commands that are advised.
func (p place) named(all ...superdisk.Advice) []superdisk.Advice {
	if p.cluster == "" {
		return all
	}
	names := strings.NewReplacer("--cluster CLUSTER", "--cluster "+hint.Quoted(p.cluster), "node=NODE", "node="+hint.Quoted(p.node))
	for i := range all {
		all[i].Do = names.Replace(all[i].Do)
	}
	return all
}
