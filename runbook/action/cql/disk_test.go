package cql_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"plimsoll/runbook/action"
)

// disk is a small disk of a node's own, under its data folder.
type disk struct {
	world
	node action.Node
}

// small gives a node that was not started yet a disk of its own; nil without the right to mount one.
func (w world) small(node string) *disk {
	w.Helper()
	n, err := w.site.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	if os.Geteuid() != 0 {
		w.Log("SKIPPED: a disk full on one node, which takes root: a file system is mounted in the place of its data folder")
		return nil
	}
	if out, err := exec.CommandContext(w.Context(), "mount", "-t", "tmpfs", "-o", "size=60m,mode=0700", "plimsoll-test", n.Data).CombinedOutput(); err != nil {
		w.Logf("SKIPPED: a disk full on one node, as none can be mounted here: %v: %s", err, out)
		return nil
	}
	w.Cleanup(func() {
		if out, err := exec.CommandContext(context.Background(), "umount", "--lazy", n.Data).CombinedOutput(); err != nil {
			w.Errorf("%v: %s", err, out)
		}
	})
	return &disk{w, n}
}

// refusesTo expects that nothing is begun for which the disk has no room, and makes room.
func (d *disk) refusesTo(join action.Task) {
	if d == nil {
		return
	}
	d.Helper()
	d.refuses(join, "MB free for "+d.node.Data+", and is to take about")
	if out, err := exec.CommandContext(d.Context(), "mount", "-o", "remount,size=1g", d.node.Data).CombinedOutput(); err != nil {
		d.Fatalf("%v: %s", err, out)
	}
}

// fills lets the disk become full, which ends the node's service; frees some, and starts it again.
func (d *disk) fills() {
	if d == nil {
		return
	}
	d.Helper()
	ctx := d.Context()
	ballast := filepath.Join(d.node.Data, "ballast")
	wait, leave := d.task("cql.wait-whole", "{}"), d.task("cql.decommission", "node: n2")
	full := d.world.host(d.node.Name) + ": its disk is full, with "
	d.until("its disk is full, and nobody may leave", func() bool { // what is asked may find that the server has freed some
		if err := grow(ballast); err != nil {
			d.Fatal(err)
		}
		d.nodetool(d.node, "flush")
		f, err := wait.Check(ctx, d.site)
		if err != nil || !strings.Contains(f.Reason, full) {
			return false
		}
		_, err = leave.Check(ctx, d.site.ReadOnly())
		return err != nil && strings.Contains(err.Error(), full)
	})
	if err := os.Remove(ballast); err != nil {
		d.Fatal(err)
	}
	if err := d.cluster.Kill(ctx, d.node.Name); err != nil {
		d.Fatal(err)
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := d.cluster.Start(limited, d.node.Name); err != nil {
		d.Fatal(err)
	}
}

// grow makes a file take all that is free where it lies.
func grow(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	zeros := make([]byte, 64<<10)
	for {
		if _, err := file.Write(zeros); err != nil {
			if errors.Is(err, syscall.ENOSPC) {
				return nil
			}
			return err
		}
	}
}
