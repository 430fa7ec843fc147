package cql_test

import (
	"context"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/internal/labtest"
)

// disk is a small disk of a node's own, under its data folder.
type disk struct {
	fixture
	node cluster.Node
	*labtest.Disk
}

// small gives a node that was not started yet a disk of its own; nil without the right to mount one.
func (w fixture) small(node string) *disk {
	w.Helper()
	n, err := w.on.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	d, err := labtest.SmallDisk(w, n.Data, "60m")
	if err != nil {
		w.Logf("SKIPPED: a disk full on one node, in the place of whose data folder a file system is mounted: %v", err)
		return nil
	}
	return &disk{w, n, d}
}

// refusesTo expects that nothing is begun for which the disk has no room, and makes room.
func (d *disk) refusesTo(join action.Task) {
	if d == nil {
		return
	}
	d.Helper()
	d.refuses(join, "MB free for "+d.node.Data+", but would receive about")
	d.Resize(d, "1g")
}

// fills lets the disk become full, which ends the node's service; frees some, and starts it again.
func (d *disk) fills() {
	if d == nil {
		return
	}
	d.Helper()
	ctx := d.Context()
	wait, leave := d.task("cql.wait-whole", "{}"), d.task("cql.decommission", "node: n2")
	full := d.fixture.host(d.node.Name) + ": its disk is full, with "
	d.until("its disk is full, and nobody may leave", func() bool { // what is asked may find that the server has freed some
		if err := d.Fill(); err != nil {
			d.Fatal(err)
		}
		d.nodetool(d.node, "flush")
		f, err := wait.Check(ctx, d.on)
		if err != nil || !strings.Contains(f.Reason, full) {
			return false
		}
		_, err = leave.Check(ctx, d.on.ReadOnly())
		return err != nil && strings.Contains(err.Error(), full)
	})
	if err := d.Free(); err != nil {
		d.Fatal(err)
	}
	if err := d.cluster.Server(d.node.Name).Kill(ctx); err != nil {
		d.Fatal(err)
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := d.cluster.Start(limited, d.node.Name); err != nil {
		d.Fatal(err)
	}
}
