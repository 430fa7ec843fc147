// Package rehearsal writes the trial that rehearses a runbook: on a lab that is as like the cluster it is meant for as one can be made.
package rehearsal

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
)

// Limits are what the machine of the lab can carry.
type Limits struct {
	Memory int64 // bytes for the buffer pools of all nodes together
	Nodes  int
}

// Product is what a lab calls a product, and the versions of it that it can make.
type Product struct {
	Name     string
	Versions []string
}

// Draft is a trial in writing, with what a person must know of it.
type Draft struct {
	Trial   []byte
	Schema  []byte   // of the lab's servers; nil: the target has no tables of its own
	Mapped  []string // inputs that are other places in the lab: node=db7 is n2 there
	Differs []string // in which the lab is not like the target
	Asks    []string // the approvals that the trial gives itself, and a person will be asked for
}

// Plan is what is rehearsed.
type Plan struct {
	Book     *runbook.Runbook
	Path     string            // of the book, as the trial names it
	Said     map[string]string // its inputs, as a person said them for the target
	Command  string            // that rehearses it, as a person typed it
	File     string            // where the trial will be
	Prepared *execute.Prepared // for the target
	Products []Product
	Workload string // the load's; "": the engine's usual
	Retries  bool   // that workload can try a deadlocked transaction again
	Limits   Limits
	Copy     *Copy // rehearse on it, in place of a lab
}

// Copy is a cluster that exists and has the data of the target, such as its clone.
type Copy struct {
	Name  string // as the inventory has it
	Nodes int    // which have the names of as many of the target's nodes, the primary first
}

// SchemaFile is what the trial calls the schema beside it.
const SchemaFile = "schema.sql"

// Write looks at the target and writes the trial. It changes nothing there.
func Write(ctx context.Context, on *cluster.Cluster, p Plan) (*Draft, error) {
	d := &Draft{}
	h := p.Prepared.Header
	nodes, err := on.PrimaryFirst(ctx)
	if err != nil {
		return nil, err
	}
	size := min(len(nodes), p.Limits.Nodes)
	if p.Copy != nil {
		size = p.Copy.Nodes
	}
	if size < len(nodes) {
		d.Differs = append(d.Differs, fmt.Sprintf("%d nodes instead of %d", size, len(nodes)))
	}
	var has *disks
	if p.Copy == nil {
		has = p.disksOf(h)
	}
	with, err := d.inputs(p, has, nodes, size)
	if err != nil {
		return nil, err
	}
	var place venue
	if p.Copy != nil {
		place = p.copied()
	} else if place, err = p.lab(ctx, on, d, nodes, size); err != nil {
		return nil, err
	}
	if has != nil {
		machines, prepare := has.lines(with[nodeInput])
		place.cluster, place.prepare, place.machines = append(place.cluster, machines), prepare, true
		d.Differs = append(d.Differs, fmt.Sprintf("only node %s has a machine of its own, with disks of %s that are as fast as the files of this host", with[nodeInput], volumeSize))
	}
	for _, s := range h.Plan.Steps {
		for _, note := range s.Awaits() {
			d.Asks = append(d.Asks, fmt.Sprintf("step %s: %s", s.Key, note))
		}
	}
	d.Trial = d.text(p, place, with)
	return d, nil
}

// inputs maps those that name places onto the lab, and leaves the others as they are.
func (d *Draft) inputs(p Plan, has *disks, nodes []cluster.Node, size int) (map[string]string, error) {
	with := map[string]string{}
	for _, name := range document.SortedKeys(p.Said) {
		in, value := p.Book.Inputs[name], p.Said[name]
		with[name] = value
		switch {
		case in.Type == "cluster" || in.Type == "clusters" || in.Of != "":
			return nil, hint.With(fmt.Errorf("input %s names another cluster, for which Plimsoll does not create a lab by itself", name),
				p.byHand("write the trial yourself"))
		case in.Type == "node":
			at := slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.Name == value })
			switch {
			case p.Copy != nil && at < 0:
				return nil, hint.With(fmt.Errorf("input %s names %s, which is no node of the cluster, and its copy has no such server", name, value),
					p.byHand("leave --on-clone out, and a lab is used; or write the trial yourself"))
			case p.Copy != nil:
				with[name] = nodes[min(at, size-1)].Name
			case at < 0 && has != nil:
				return nil, hint.With(fmt.Errorf("input %s names %s, which plays no part in the cluster: Plimsoll makes no lab with a machine for it by itself", name, value),
					p.byHand("write the trial yourself"))
			case at < 0: // a spare server: a lab makes one
				with[name] = "new"
			default:
				with[name] = "n" + strconv.Itoa(min(at+1, size))
			}
		case in.Rehearse.Place && has != nil && has.places[name] != "":
			with[name] = has.places[name]
		case in.Rehearse.Place:
			if in.Default == nil {
				return nil, hint.With(fmt.Errorf("input %s names a place, and the runbook has no default that a lab could use", name),
					p.byHand("write the trial yourself"))
			}
			with[name] = in.Default.Text
		}
		if with[name] != value {
			d.Mapped = append(d.Mapped, fmt.Sprintf("%s=%s is %s %s", name, value, with[name], p.where()))
		}
	}
	return with, nil
}

// look reads the settings and the schema of the target, by a node that answers.
func (d *Draft) look(ctx context.Context, on *cluster.Cluster, nodes []cluster.Node, memory int64) (map[string]string, error) {
	var db engine.Database
	var err error
	for _, n := range nodes {
		if db, err = on.Engine.Open(ctx, n.Target); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	defer db.Close()
	portrayed, is := engine.As[engine.Portrayed](db)
	if !is {
		d.Differs = append(d.Differs, "the lab has its own settings and schema, because this engine does not show them")
		return nil, nil
	}
	config, hidden, err := portrayed.Configured(ctx)
	if err != nil {
		return nil, err
	}
	d.fit(config, memory)
	statements, without, err := portrayed.Schema(ctx)
	if err != nil {
		return nil, err
	}
	if len(statements) > 0 {
		d.Schema = []byte(strings.Join(statements, ";\n") + ";\n")
		d.Differs = append(d.Differs, "the tables are empty: the rehearsal does not show what a change costs on their data")
	}
	if without = append(hidden, without...); len(without) > 0 {
		d.Differs = append(d.Differs, "without "+strings.Join(without, ", "))
	}
	return config, nil
}

// fit makes settings no larger than the machine of the lab can carry.
func (d *Draft) fit(config map[string]string, memory int64) {
	for name, most := range map[string]int64{
		"innodb_buffer_pool_size": memory, "innodb_log_file_size": 512 << 20, "innodb_redo_log_capacity": 512 << 20, "innodb_log_buffer_size": 64 << 20,
		"key_buffer_size": 64 << 20, "aria_pagecache_buffer_size": 128 << 20,
	} {
		if is, err := strconv.ParseInt(config[name], 10, 64); err == nil && is > most {
			config[name] = strconv.FormatInt(most>>20<<20, 10)
			d.Differs = append(d.Differs, fmt.Sprintf("%s is %d MiB instead of %d MiB", name, most>>20, is>>20))
		}
	}
	slices.Sort(d.Differs)
}
