package runbookcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/rehearsal"
	"plimsoll/runbook/execute"
	known "plimsoll/workload"
)

// writeRehearsal writes the trial and what belongs to it, and says in what the lab is not like the cluster.
func writeRehearsal(ctx context.Context, c console.Streams, d *runs.Service, name string, o rehearseOptions, p *execute.Prepared, copied *clone) (file string, err error) {
	book, err := runs.ReadRunbook(name)
	if err != nil {
		return "", err
	}
	said, err := o.Said()
	if err != nil {
		return "", err
	}
	dir := o.folder(book.Name, p)
	limits, err := limits(ctx)
	if err != nil {
		return "", err
	}
	on, err := d.Look(ctx, p.Header.Cluster)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	path, err := fromFolder(dir, name)
	if err != nil {
		return "", err
	}
	workload := o.workload
	if document.IsPath(workload) {
		if workload, err = fromFolder(dir, workload); err != nil {
			return "", err
		}
	}
	file = filepath.Join(dir, trialFile)
	plan := rehearsal.Plan{
		Book: book, Path: path, Said: said, Command: "plimsoll runbook rehearse " + hint.Quoted(name) + o.asTyped(), File: file, Prepared: p,
		Products: labProducts(), Workload: workload, Retries: triesAgain(workload), Limits: limits,
	}
	like := "a lab like " + p.Header.Cluster
	if copied != nil {
		plan.Copy = &rehearsal.Copy{Name: copied.name, Nodes: len(copied.cluster.Nodes)}
		like = "a clone of " + p.Header.Cluster
	}
	draft, err := rehearsal.Write(ctx, on, plan)
	if err != nil {
		return "", err
	}
	if err := errors.Join(writeNew(c, file, draft.Trial), writeNew(c, filepath.Join(dir, rehearsal.SchemaFile), draft.Schema)); err != nil {
		return "", err
	}
	fmt.Fprintf(c.Err, "%s rehearses %s on %s (%s %s).\n", file, book.Name, like, p.Header.Product, p.Header.Version)
	for _, text := range draft.Differs {
		fmt.Fprintf(c.Err, "  differs from your cluster: %s\n", text)
	}
	for _, text := range draft.Mapped {
		fmt.Fprintf(c.Err, "  %s\n", text)
	}
	return file, nil
}

// unready refuses a runbook that works on disks of which no lab can have the like by itself.
func (o rehearseOptions) unready(name string, p *execute.Prepared) error {
	book, err := runs.ReadRunbook(name)
	if err != nil {
		return err
	}
	return rehearsal.Plan{Book: book, Path: name, Command: "plimsoll runbook rehearse " + hint.Quoted(name) + o.asTyped(), Prepared: p, Products: labProducts()}.Unready()
}

// writeNew writes a file; one that was there and is another is kept beside it. Of nothing it writes nothing.
func writeNew(c console.Streams, file string, data []byte) error {
	if data == nil {
		return nil
	}
	switch old, err := os.ReadFile(file); {
	case err == nil && bytes.Equal(old, data):
		return nil
	case err == nil:
		if err := os.Rename(file, file+".before"); err != nil {
			return fmt.Errorf("keep what was written before: %w", err)
		}
		fmt.Fprintf(c.Err, "%s existed and was renamed to %s.before.\n", file, file)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("check for an earlier trial: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write the rehearsal: %w", err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write the rehearsal: %w", err)
	}
	return nil
}

// fromFolder is how a file in a folder names another file; the name of a shipped runbook stays as it is.
func fromFolder(dir, name string) (string, error) {
	if !document.IsPath(name) {
		return name, nil
	}
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(name)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return to, nil //nolint:nilerr // by its whole path then
	}
	if !strings.HasPrefix(rel, ".") {
		rel = "./" + rel
	}
	return rel, nil
}

// triesAgain tells whether a workload that ships can try a deadlocked transaction again.
func triesAgain(workload string) bool {
	for _, maker := range catalog.Workloads() {
		if maker.Name == workload {
			return slices.ContainsFunc(maker.Parameters, func(p known.Parameter) bool { return p.Name == "retries" })
		}
	}
	return false
}

// labProducts are what a lab can be made of.
func labProducts() []rehearsal.Product {
	var all []rehearsal.Product
	products := catalog.Products()
	for _, name := range document.SortedKeys(products) {
		one := rehearsal.Product{Name: name}
		for _, r := range products[name].Launcher.Releases() {
			if r.Product == name {
				one.Versions = append(one.Versions, r.Version)
			}
		}
		all = append(all, one)
	}
	return all
}

// limits are what this machine can carry: a quarter of its memory for buffer pools.
func limits(ctx context.Context) (rehearsal.Limits, error) {
	m, err := catalog.Machine()
	if err != nil {
		return rehearsal.Limits{}, err
	}
	l := rehearsal.Limits{Memory: 1 << 30, Nodes: 5}
	data, err := m.ReadFile(ctx, "/proc/meminfo")
	if err != nil {
		return l, nil //nolint:nilerr // a machine that does not tell carries a little
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				l.Memory = kib << 10 / 4
			}
		}
	}
	return l, nil
}
