// Command torture tortures the runbooks that ship, on labs of its own, and writes docs/torture.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/runbook/faulttest"
)

func main() {
	r := rack{}
	flag.StringVar(&r.program, "program", "bin/plimsoll", "the plimsoll that is used")
	flag.StringVar(&r.out, "out", "docs/torture.md", "the page to write, from all results that there are")
	flag.StringVar(&r.results, "results", "docs/torture", "the folder of results, one file for each runbook and product; what is not tortured again stays")
	flag.StringVar(&r.kinds, "tries", "", "only these kinds of tries, in a file of their own: twice,failed,killed,asleep,cancelled")
	flag.StringVar(&r.pause, "pause", "20s", "how long an owner sleeps")
	flag.IntVar(&r.undoKills, "undo-kills", 0, "kill undos only so many times for each runbook; 0: at each of their writes")
	products := flag.String("products", "mariadb,mysql,cassandra", "on which")
	only := flag.String("only", "", "these runbooks alone: mysql/switchover,mysql/failover")
	m := mixed{}
	pageOnly := flag.Bool("page", false, "only write the page, from the results that there are")
	kills := flag.Int("mixed", 0, "instead: a mixed attack, until Plimsoll was killed so many times on each product")
	flag.Uint64Var(&m.seed, "seed", 0, "of an attack; 0: another each time")
	first := flag.Int("try", 0, "the number of an attack's first try")
	within := flag.Duration("within", time.Hour, "an attack ends after this")
	flag.StringVar(&m.only, "story", "", "only this story of a mixed attack")
	copies := flag.Int("copies", 0, "instead: so many tries of an attack on how the legs of a Super Disk are brought into step")
	disks := flag.String("disks", "", "instead: these runbooks of Super Disks, killed at each entry of their journals: superdisk/replace-node,superdisk/migrate, or all")
	undosOnly := flag.Bool("undos-only", false, "attack the undos alone of runbooks of Super Disks, in results of their own")
	goOn := flag.String("go-on", "", "with the lab of an attack on Super Disks that was ended in its middle: its folder")
	atOnce := flag.Int("at-once", 3, "attacks on copies that are made at once, with seeds one after another, and the tries are dealt out to them; or labs of Super Disks")
	oneIn := flag.Int("one-in", 1, "of so many places of the journal of a runbook of Super Disks, one is attacked; the others are named on the page")
	asJSON := flag.Bool("json", false, "print the result of a mixed attack as JSON, and keep none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *pageOnly {
		if err := r.page(); err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			os.Exit(1)
		}
		return
	}
	if *disks != "" {
		if err := r.onDisks(ctx, disksOptions{only: *disks, goOn: *goOn, within: *within, atOnce: max(1, *atOnce), oneIn: max(1, *oneIn), undosOnly: *undosOnly}); err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			os.Exit(1)
		}
		return
	}
	if *copies > 0 {
		if err := r.copying(ctx, drawSeed(m.seed), *copies, *first, *within, max(1, *atOnce)); err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			os.Exit(1)
		}
		return
	}
	if *kills > 0 {
		if err := r.mixed(ctx, m, strings.Split(*products, ","), *kills, *first, *within, *asJSON); err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			os.Exit(1)
		}
		return
	}
	if err := r.all(ctx, strings.Split(*products, ","), *only); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// rack is what runbooks are tortured with.
type rack struct {
	program, out, results, pause, kinds string
	undoKills                           int
	files                               string // a folder with runbooks that prepare
}

// result is what became of one runbook on one product.
type result struct {
	Case    trialOf           `json:"case"`
	Product string            `json:"product"`
	Report  *faulttest.Report `json:"ordeal,omitempty"`
	Error   string            `json:"error,omitempty"` // why it could not be tortured
}

// all tortures what was asked for, and writes the page anew after each.
func (r rack) all(ctx context.Context, products []string, only string) (err error) {
	if err := os.MkdirAll(r.results, 0o750); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if r.files, err = os.MkdirTemp("", "torture-"); err != nil {
		return fmt.Errorf("keep runbooks: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.files)) }()
	for name, text := range preparing {
		if err := os.WriteFile(filepath.Join(r.files, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("keep runbooks: %w", err)
		}
	}
	for _, product := range products {
		for _, l := range labsOf(product) {
			if err := r.lab(ctx, l, product, only); err != nil {
				return err
			}
		}
	}
	return r.page()
}

// lab makes a lab, tortures the runbooks that need it, and removes it.
func (r rack) lab(ctx context.Context, l labOf, product, only string) (err error) {
	var cases []trialOf
	for _, c := range l.cases {
		if only == "" || slices.Contains(strings.Split(only, ","), c.Book) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return nil
	}
	name := "torture-" + product + "-" + l.name
	if err := r.tell(ctx, append([]string{"lab", "up", product, "--name", name}, l.up...)...); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.tell(context.WithoutCancel(ctx), "lab", "down", name))
	}()
	if l.seed != "" {
		if err := r.tell(ctx, "runbook", "run", filepath.Join(r.files, l.seed), "--cluster", name, "--yes"); err != nil {
			return err
		}
	}
	for _, c := range cases {
		fmt.Fprintf(os.Stderr, "== %s on %s\n", c.Book, product)
		if err := r.one(ctx, c, product, name); err != nil {
			return err
		}
		if err := r.page(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// one tortures one runbook and keeps the result.
func (r rack) one(ctx context.Context, c trialOf, product, lab string) error {
	args := []string{"runbook", "torture", c.Book, "--cluster", lab, "--pause", r.pause, "--yes", "--json"}
	if r.kinds != "" {
		args = append(args, "--tries", r.kinds)
	}
	if r.undoKills > 0 {
		args = append(args, "--undo-kills", strconv.Itoa(r.undoKills))
	}
	for _, in := range c.Inputs {
		args = append(args, "-i", in)
	}
	for _, b := range c.Before {
		args = append(args, "--before", strings.ReplaceAll(b, "FILES", r.files))
	}
	var told strings.Builder
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = &told, os.Stderr
	res := result{Case: c, Product: product}
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if told.Len() > 0 {
		res.Report = &faulttest.Report{}
		if err := json.Unmarshal([]byte(told.String()), res.Report); err != nil {
			return fmt.Errorf("read the report of %s: %w", c.Book, err)
		}
	} else {
		res.Error = fmt.Sprint(err)
	}
	data, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the report of %s: %w", c.Book, err)
	}
	name := product + "-" + filepath.Base(c.Book)
	if r.kinds != "" {
		name += "-" + strings.ReplaceAll(r.kinds, ",", "-")
	}
	file := filepath.Join(r.results, name+".json")
	if err := os.WriteFile(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the report of %s: %w", c.Book, err)
	}
	return nil
}

// tell runs a command of plimsoll.
func (r rack) tell(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("plimsoll %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
