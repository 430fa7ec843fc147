package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/infra/uml"
)

// disks is an attack on the runbooks of Super Disks. A MariaDB stands in one of two lab machines, and Plimsoll is killed at each entry of
// the journals of their runs and of their undos; what stands then is judged by the machines themselves. The machines are booted once
// for all runbooks of a lab, but for those that lose one.
type disks struct {
	program, work, lab string
	home               home
	lookup             mixed // finds the lab's servers
	volumes            *uml.Volumes
	nodes              []string // the first has the data at first; a second is a spare machine
	machines           map[string]guest
	at                 string // the node with the data
	network            string // id of the volume of the network leg, which goes from one machine to the other
	files              string // sums of the files beside the database
	tries              int
	last               endedRun // of the try before
	disksOptions
}

// endedRun is a run that has ended, which may have left its claim on a server that did not answer then.
type endedRun struct {
	home home // its store is kept until the next run has ended
	run  string
}

// disksOptions say what is attacked.
type disksOptions struct {
	only      string // runbooks, or all
	goOn      string // the folder of an attack that was ended in its middle; "": begin anew
	within    time.Duration
	atOnce    int  // labs
	oneIn     int  // of so many places of a journal, one is attacked
	undosOnly bool // only processes that undo are killed
}

// disksPrefix begins the names of the results of these attacks.
const disksPrefix = "disks-"

// disksLease is short for the same reason.
const disksLease = copiesLease

// disksPatience is long: on a busy machine a kernel in user mode takes minutes for what takes it seconds.
const disksPatience = 15 * time.Minute

const (
	dataAt  = "/mnt/data"  // where a lab's machine has its data
	spareAt = "/mnt/array" // where superdisk/create makes an array beside it
	second  = "second"     // the name of that
)

// disksResult is what is kept of the attack on one runbook.
type disksResult struct {
	Runbook  string         `json:"runbook"`
	UndoOnly bool           `json:"undo_only,omitempty"` // only processes that undid were killed
	Kernel   string         `json:"kernel"`
	At       time.Time      `json:"at"`
	Took     time.Duration  `json:"took_ns"`
	Steps    int            `json:"steps"`
	Tries    int            `json:"tries"`
	Runs     int            `json:"runs"`
	Kills    int            `json:"kills"`
	Undos    int            `json:"undo_kills"`        // kills of a process that undid the run
	ByHand   int            `json:"by_hand,omitempty"` // starts of the server by the person, as an undo had advised
	Moments  []string       `json:"moments"`           // of the journal at which it was killed
	Missed   []string       `json:"missed,omitempty"`
	Untried  []string       `json:"untried,omitempty"` // moments at which it was not killed yet
	Ends     map[string]int `json:"ends"`
	Looks    int            `json:"looks"`          // at the machines, when a run had ended
	Compared int64          `json:"bytes_compared"` // of files, on one leg and on the other
	Rebuilt  int            `json:"rebuilt,omitempty"`
	Troubled []*diskTry     `json:"troubled,omitempty"`
	Note     string         `json:"note,omitempty"` // a person's, on what became of the troubles
}

// onDisks attacks these runbooks, or all, and keeps what it finds. Each group of runbooks has a lab of its own.
func (r rack) onDisks(ctx context.Context, o disksOptions) error {
	if err := os.MkdirAll(r.results, 0o750); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	var groups [][]diskCase
	for _, g := range diskCases {
		g = slices.DeleteFunc(slices.Clone(g), func(c diskCase) bool { return o.only != "all" && !slices.Contains(strings.Split(o.only, ","), c.book) })
		if len(g) > 0 {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return fmt.Errorf("there is no runbook %s of Super Disks", o.only)
	}
	hands := make(chan struct{}, o.atOnce)
	errs := make([]error, len(groups))
	until := time.Now().Add(o.within)
	var all sync.WaitGroup
	for i, g := range groups {
		all.Go(func() {
			hands <- struct{}{}
			defer func() { <-hands }()
			errs[i] = r.disksOf(ctx, g, until, o)
		})
	}
	all.Wait()
	return errors.Join(append(errs, r.page())...)
}

// disksOf attacks the runbooks of a group, one after the other.
func (r rack) disksOf(ctx context.Context, cases []diskCase, until time.Time, o disksOptions) (err error) {
	d := &disks{lab: "disks", disksOptions: o, nodes: []string{"n1"}, machines: map[string]guest{}, work: o.goOn, tries: int(time.Now().Unix() % 1e6)}
	if slices.ContainsFunc(cases, func(c diskCase) bool { return c.moves }) {
		d.nodes = append(d.nodes, "n2")
	}
	if d.program, err = filepath.Abs(r.program); err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	if o.goOn == "" {
		if d.work, err = os.MkdirTemp("", "disks-"); err != nil {
			return fmt.Errorf("make a folder for the tries: %w", err)
		}
	}
	d.home = home{program: d.program, folder: filepath.Join(d.work, "home"), cluster: d.lab, lease: disksLease, patience: disksPatience}
	d.lookup = mixed{program: d.program, product: "mariadb", home: d.home.folder, lab: d.lab}
	fmt.Fprintf(os.Stderr, "== Super Disks; tries in %s\n", d.work)
	defer func() {
		_, down := d.plimsoll(context.WithoutCancel(ctx), "lab", "down", d.lab)
		err = errors.Join(err, down)
	}()
	if o.goOn == "" {
		err = d.up(ctx)
	}
	if err == nil {
		err = d.connect(ctx)
	}
	if err == nil && o.goOn == "" {
		err = d.prepare(ctx)
	}
	if err == nil && o.goOn != "" {
		err = d.findData(ctx)
	}
	if err != nil {
		return err
	}
	for i, c := range cases {
		share := time.Until(until) / time.Duration(len(cases)-i)
		res, failed := d.attack(ctx, c, time.Now().Add(share), r.keepDisks)
		switch {
		case failed != nil: // the next one begins anew
			fmt.Fprintf(os.Stderr, "%s: %v\n", c.book, failed)
			err = errors.Join(err, fmt.Errorf("%s: %w", c.book, failed))
		case len(res.Troubled) > 0:
			err = errors.Join(err, errTroubles)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(d.work)
}

// keepDisks writes the result of an attack, which may be under way.
func (r rack) keepDisks(res disksResult) error {
	data, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	name := disksPrefix + filepath.Base(res.Runbook) + ".json"
	if res.UndoOnly {
		name = disksPrefix + "undo-" + filepath.Base(res.Runbook) + ".json"
	}
	if err := os.WriteFile(filepath.Join(r.results, name), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	return nil
}

// plimsoll runs a command for the attack itself.
func (d *disks) plimsoll(ctx context.Context, args ...string) (string, error) {
	a := copies{program: d.program, home: d.home}
	return a.plimsoll(ctx, args...)
}

// disksBooks are runbooks of this attack.
var disksBooks = map[string]string{
	"ledger.yaml": mixedBooks["ledger.yaml"],
	"stop.yaml":   "runbook: attack/stop\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: stop, uses: server.stop, with: {node: \"${{ inputs.node }}\"}}]\n",
	"start.yaml":  "runbook: attack/start\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: start, uses: server.start, with: {node: \"${{ inputs.node }}\"}}]\n",
	"lose.yaml":   "runbook: attack/lose\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: lose, uses: fault.kill-machine, with: {node: \"${{ inputs.node }}\"}}]\n",
	"boot.yaml":   "runbook: attack/boot\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: boot, uses: machine.boot, with: {node: \"${{ inputs.node }}\"}}]\n",
}

// do runs a runbook of this attack on a node, or one that ships; nobody kills it. On a busy machine a step may fail for want of an answer, or
// the claim of the run that was attacked last may still be there, since no server ran at its end: both are resumed, as the messages advise.
func (d *disks) do(ctx context.Context, book string, inputs ...string) error {
	if strings.HasSuffix(book, ".yaml") {
		book = filepath.Join(d.work, book)
	}
	h := d.home
	h.store = filepath.Join(d.work, "own")
	begin := []string{"runbook", "run", book, "--cluster", d.lab, "--yes", "--json"}
	for _, in := range inputs {
		begin = append(begin, "-i", in)
	}
	args := begin
	for again := 0; ; again++ {
		s := h.call(ctx, nil, 0, nil, args...)
		if s.Code == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
		failed := fmt.Errorf("plimsoll %s: code %d: %s %s", strings.Join(args, " "), s.Code, tail(s.Err), tail(s.Out))
		all, err := h.runs(ctx)
		if err != nil || again == 3 {
			return errors.Join(failed, err)
		}
		switch {
		case len(all) > 0 && !all[0].over():
			args = speak(resume, all[0].Run)
		case d.last.run != "":
			d.last.home.call(ctx, nil, 0, nil, speak(resume, d.last.run)...)
			d.last.run, args = "", begin
		default:
			return failed
		}
		rest(ctx, disksLease)
	}
}

func (r *disksResult) add(t *diskTry) {
	r.Tries++
	r.Runs += t.Runs
	r.Kills += t.Kills
	r.Undos += t.Undos
	r.ByHand += t.ByHand
	r.Looks += t.Looks
	r.Compared += t.Compared
	for _, m := range t.Moments {
		if !slices.Contains(r.Moments, m) {
			r.Moments = append(r.Moments, m)
		}
	}
	for end, n := range t.Ends {
		r.Ends[end] += n
	}
	if len(t.Troubles) > 0 {
		r.Troubled = append(r.Troubled, t)
	}
}

func (t *diskTry) line() string {
	text := fmt.Sprintf("%s, %s: %d kills, %d of an undo, ends", t.book, t.What, t.Kills, t.Undos)
	for _, end := range slices.Sorted(maps.Keys(t.Ends)) {
		text += fmt.Sprintf(" %s %d", end, t.Ends[end])
	}
	for _, trouble := range t.Troubles {
		text += "\n  TROUBLE: " + trouble
	}
	return text
}
