package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/runbook/journal"
	"plimsoll/superdisk"
)

// judge looks at the machines, the volumes, the record and the server when a run has ended. Plimsoll is not asked.
func (t *diskTry) judge(ctx context.Context, run told) error {
	d := t.d
	want := t.c.after(run.Status == string(journal.RunDone), t.events)
	if run.Status == string(journal.RunDone) && t.c.moves {
		d.at = other(d.at)
	}
	t.Looks++
	if run.Damage != "" || len(run.Left) > 0 && !(run.Status == journal.UndoneWithRemainders && t.c.leaves(want)) {
		t.trouble("run %s: damage %q, left %v", run.Run, run.Damage, run.Left)
	}
	if err := t.home.verify(ctx, run.Run); err != nil {
		t.trouble("%v", err)
	}
	for _, node := range d.nodes {
		running, err := d.machines[node].Running(ctx)
		if err != nil {
			return err
		}
		if !running {
			if node == d.at && !(t.c.moves && want == waiting) {
				t.trouble("the machine of %s does not run", node)
			}
			continue
		}
		s, err := superdisk.Inspect(ctx, d.machines[node])
		if err != nil {
			return err
		}
		if node != d.at {
			t.nothing(ctx, node, s)
			continue
		}
		if a, _ := s.Find(arrayName); want == either {
			if want = whole; a.Degraded > 0 {
				want = networkOnly
			}
		}
		if err := t.judgeArrays(ctx, node, s, want); err != nil {
			return err
		}
		if err := t.judgeRecord(ctx, s); err != nil {
			return err
		}
		if err := t.judgeServer(ctx, node, want); err != nil {
			return err
		}
	}
	return t.judgeVolumes(ctx)
}

// after is how everything should stand when a run with these events has ended.
func (c diskCase) after(done bool, events []journal.Event) layout {
	if done {
		return c.done
	}
	want := c.undone
	for _, e := range events {
		switch {
		case c.serves == "" || e.Step != c.serves:
		case e.Kind == journal.Acted:
			return networkOnly
		case e.Kind == journal.Intended:
			want = either
		}
	}
	return want
}

// leaves tells whether an undo that ends so says that something remains: an array that had two legs has one, or the volume of a machine that is lost
// stays detached.
func (c diskCase) leaves(want layout) bool {
	return c.serves != "" && (want == networkOnly || want == either) || c.moves && want == waiting
}

// nothing says what is on a machine where nothing should be.
func (t *diskTry) nothing(ctx context.Context, node string, s superdisk.Status) {
	if len(s.Arrays) > 0 {
		t.trouble("%s has arrays, and should have none: %+v", node, s.Arrays)
	}
	if found, err := t.d.machines[node].sh(ctx, "pgrep -r R,S,D -a mariadbd; grep -E ' (/mnt/data|/run/plimsoll-superdisk/[^ ]*) ' /proc/self/mounts; true"); err != nil || found != "" {
		t.trouble("something runs or is mounted on %s: %s, %v", node, found, err)
	}
}

// judgeRecord holds what is recorded of the legs, outside the arrays, against what md says.
func (t *diskTry) judgeRecord(ctx context.Context, s superdisk.Status) error {
	host, err := local.New()
	if err != nil {
		return fmt.Errorf("reach this host: %w", err)
	}
	kept := superdisk.Records{Machine: host, Folder: filepath.Join(t.d.home.folder, "superdisk"), Volumes: t.d.volumes}
	for _, a := range s.Arrays {
		if !a.Running() {
			continue
		}
		r, err := kept.Read(ctx, a.UUID)
		if err != nil {
			return fmt.Errorf("read the record of %s: %w", a.Label(), err)
		}
		in := map[string]bool{}
		for _, l := range a.Legs {
			key := r.Key(a, l)
			in[key] = l.InStep()
			its, err := kept.Of(ctx, a.UUID, key)
			if err != nil {
				return fmt.Errorf("read the record of %s: %w", a.Label(), err)
			}
			if is, known := its.Legs[key]; !known || is.InStep != l.InStep() {
				t.trouble("the record of the %s leg %s is %+v (known: %v), and md says %v", l.Role, key, is, known, l.State)
			}
		}
		for key := range r.Legs {
			is, err := kept.Of(ctx, a.UUID, key)
			if err != nil {
				return fmt.Errorf("read the record of %s: %w", a.Label(), err)
			}
			if leg := is.Legs[key]; leg.InStep && !in[key] {
				t.trouble("the record says that the %s leg %s is in step, and the array runs without it: %+v", leg.Role, key, leg)
			}
		}
	}
	return nil
}

// judgeVolumes looks that no volume is on two machines, and each where its provider says.
func (t *diskTry) judgeVolumes(ctx context.Context) error {
	all, err := t.d.volumes.List(ctx, nil)
	if err != nil {
		return err
	}
	sees := map[string][]string{}
	for node, m := range t.d.machines {
		running, err := m.Running(ctx)
		if err != nil {
			return err
		}
		if !running {
			continue
		}
		disks, err := infra.Devices(ctx, m)
		if err != nil {
			return err
		}
		for _, is := range disks {
			sees[is.Serial] = append(sees[is.Serial], node)
		}
	}
	for _, v := range all {
		at := sees[v.Serial()]
		if len(at) > 1 {
			t.trouble("volume %s is on %v", v.ID, at)
		}
		if len(at) == 1 && (v.Machine != at[0] || v.State != infra.VolumeInUse) {
			t.trouble("volume %s is on %s, and its provider says %q, %s", v.ID, at[0], v.Machine, v.State)
		}
		if m, known := t.d.machines[v.Machine]; len(at) == 0 && known {
			if running, err := m.Running(ctx); err != nil || running {
				t.trouble("volume %s is on no machine, and its provider says %q, %s (%v)", v.ID, v.Machine, v.State, err)
			}
		}
	}
	return nil
}

// judgeServer looks whether the server serves, with all acknowledged writes and the files beside it, and that nothing is left of the run.
func (t *diskTry) judgeServer(ctx context.Context, node string, want layout) error {
	m := t.d.machines[node]
	left, err := m.sh(ctx, `grep ' /run/plimsoll-superdisk/' /proc/self/mounts; ls -d /mnt/data/.plimsoll-* /mnt/data/..plimsoll-* 2>/dev/null; pgrep -af 'superdisk [s]eed'; true`)
	if err != nil {
		return err
	}
	if left != "" {
		t.trouble("left on %s: %s", node, left)
	}
	if want == whole { // how far a copy came stays after an undo: the next one goes on there
		if left, err := m.sh(ctx, "ls /run/plimsoll-superdisk/*.json 2>/dev/null; true"); err != nil || left != "" {
			t.trouble("left of a copy on %s: %s, %v", node, left, err)
		}
	}
	if want == waiting || want == retired {
		if runs, err := m.sh(ctx, "pgrep -r R,S,D -a mariadbd; true"); err != nil || runs != "" {
			t.trouble("want: %s; a server runs on %s: %s, %v", want, node, runs, err)
		}
		return nil
	}
	files, err := m.sh(ctx, "sync; echo 3 >/proc/sys/vm/drop_caches; cd /mnt/data/truth && sha256sum f*")
	if err != nil || files != t.d.files {
		t.trouble("the files on %s are\n%s\nand were\n%s\n%v", node, files, t.d.files, err)
	}
	servers, err := t.d.lookup.serversOf(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(servers, func(s server) bool { return s.Name == node })
	if at < 0 {
		return fmt.Errorf("the lab has no node %s", node)
	}
	is := servers[at].look(ctx)
	for end := time.Now().Add(10 * time.Second); !is.answers && time.Now().Before(end); is = servers[at].look(ctx) {
		rest(ctx, 300*time.Millisecond)
	}
	if !is.answers || !is.writable {
		t.trouble("the server on %s answers: %v, takes writes: %v", node, is.answers, is.writable)
		return nil
	}
	if is.claim != "" || is.locked {
		t.trouble("a claim is left: %q, locked %v", is.claim, is.locked)
	}
	lost, err := t.ledger.lost(ctx, servers[at])
	if err != nil || len(lost) > 0 {
		t.trouble("%d acknowledged writes are lost, of %d: %v, %v", len(lost), len(t.ledger.acked), lost[:min(5, len(lost))], err)
	}
	for _, text := range t.ledger.twice {
		t.trouble("two servers took writes at once: %s", text)
	}
	return nil
}

// uuid is that of the array.
func (d *disks) uuid() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := superdisk.Inspect(ctx, d.machines[d.at])
	if err != nil {
		return ""
	}
	if a, there := s.Find(arrayName); there {
		return a.UUID
	}
	device, err := d.device(ctx, d.at, d.network) // it is stopped
	if err != nil {
		return ""
	}
	super, err := superdisk.ReadSuperblock(ctx, d.machines[d.at], device)
	if err != nil {
		return ""
	}
	return super.UUID()
}
