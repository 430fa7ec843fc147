package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// judgeArrays holds the arrays of the node's machine against how they should stand.
func (t *diskTry) judgeArrays(ctx context.Context, node string, s superdisk.Status, want layout) error {
	d := t.d
	data, there := s.Find(arrayName)
	more := slices.DeleteFunc(slices.Clone(s.Arrays), func(a superdisk.Array) bool { return a.UUID == data.UUID })
	main := want
	if want == beside || want == notBeside { // the data has not been touched
		main = whole
		t.judgeSecond(ctx, node, more, want)
	} else if len(more) > 0 {
		t.trouble("%s has other arrays: %+v", node, more)
	}
	localID, err := d.volume(ctx, node, "local")
	if err != nil {
		return err
	}
	wrong := func(format string, args ...any) {
		t.trouble("want: %s; %s; the arrays are %+v", main, fmt.Sprintf(format, args...), s.Arrays)
	}
	leg := func(role superdisk.Role, volume string) {
		l, in := data.Leg(role)
		if !in || !l.InStep() || l.Faulty() || superdisk.VolumeID(infra.VolumeSerial(volume)) != l.Volume {
			wrong("the %s leg is %+v, not volume %s in step", role, l, volume)
		}
	}
	serves := main == whole || main == localOnly || main == networkOnly
	if there != serves {
		wrong("an array is there: %v", there)
		return nil
	}
	if serves && (!data.Running() || data.Mount != dataAt || data.Sync != nil) {
		wrong("it does not run, is not mounted at %s, or is being copied", dataAt)
	}
	if serves && data.Chunk == 0 {
		wrong("it has no bitmap")
	}
	switch main {
	case whole:
		leg(superdisk.Local, localID)
		leg(superdisk.Network, d.network)
		if !data.Whole() {
			wrong("it is not whole")
		}
		return t.compareLegs(ctx, node, data)
	case localOnly, networkOnly:
		role, volume := superdisk.Local, localID
		if main == networkOnly {
			role, volume = superdisk.Network, d.network
		}
		leg(role, volume)
		if data.Degraded != 1 || len(data.Legs) != 1 {
			wrong("it has another leg")
		}
	default:
		return t.judgeDisks(ctx, node, localID, main, wrong)
	}
	return nil
}

// judgeDisks looks at the disks of a machine without an array.
func (t *diskTry) judgeDisks(ctx context.Context, node, localID string, want layout, wrong func(string, ...any)) error {
	m := t.d.machines[node]
	at, err := superdisk.MountedOn(ctx, m, dataAt)
	if err != nil {
		return err
	}
	localDevice, err := t.d.device(ctx, node, localID)
	if err != nil {
		return err
	}
	if (at == localDevice) != (want == plainDisk) || at != localDevice && at != "" {
		wrong("%q is mounted at %s", at, dataAt)
	}
	networkDevice, err := t.d.device(ctx, node, t.d.network)
	if err != nil {
		wrong("the network volume is not on %s: %v", node, err)
		return nil
	}
	_, err = superdisk.ReadSuperblock(ctx, m, networkDevice)
	if isLeg := err == nil; isLeg != (want == waiting) {
		wrong("the network volume is a leg: %v (%v)", isLeg, err)
	}
	if want != retired && want != plainDisk {
		return nil
	}
	blank := []string{networkDevice}
	if want == retired {
		blank = append(blank, localDevice)
	}
	for _, device := range blank {
		if disk, err := superdisk.Examine(ctx, m, device); err != nil || disk.Array != "" {
			wrong("%s is not free: %+v, %v", device, disk, err)
		}
	}
	return nil
}

// judgeSecond looks at the array that superdisk/create makes beside the data.
func (t *diskTry) judgeSecond(ctx context.Context, node string, arrays []superdisk.Array, want layout) {
	if (len(arrays) == 1) != (want == beside) || len(arrays) > 1 {
		t.trouble("want: %s; the arrays beside the data are %+v", want, arrays)
		return
	}
	if want == beside {
		if a := arrays[0]; a.Name != second || !a.Whole() || a.Mount != spareAt || a.Files != "xfs" {
			t.trouble("want: %s; it is %+v", want, a)
		}
	}
	for _, name := range []string{localLeg, networkLeg} {
		id, err := t.d.volume(ctx, node, name)
		if err != nil {
			t.trouble("%v", err)
			continue
		}
		device, err := t.d.device(ctx, node, id)
		if err != nil {
			t.trouble("%v", err)
			continue
		}
		is, err := superdisk.Examine(ctx, t.d.machines[node], device)
		if err != nil || want == notBeside && is.Holds != "" {
			t.trouble("want: %s; %s holds %q, %v", want, name, is.Holds, err)
		}
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

// comparing reads every block of every file from one leg and from the other, past md, while the file system is frozen.
const comparing = `import fcntl, mmap, os, resource, struct, sys, time
mount, legs = sys.argv[1], [a.rsplit(":", 1) for a in sys.argv[2:]]
FIEMAP, FREEZE, THAW, UNWRITTEN, UNREADABLE = 0xC020660B, 0xC0045877, 0xC0045878, 0x800, 0x2 | 0x4 | 0x200
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
os.sync()
open("/proc/sys/vm/drop_caches", "w").write("3")
root = os.open(mount, os.O_RDONLY | os.O_DIRECTORY)
disks = [(os.open(name, os.O_RDONLY | os.O_DIRECT), int(offset)) for name, offset in legs]
buffers = [mmap.mmap(-1, 1 << 20) for _ in disks]
done, differ = 0, []
watchdog = os.fork()
if watchdog == 0: # should we be killed, the server must not wait for ever; on a busy machine the comparison takes minutes
    os.setsid()
    time.sleep(900)
    fcntl.ioctl(root, THAW, 0)
    os._exit(0)
fcntl.ioctl(root, FREEZE, 0)
try:
    for folder, _, names in os.walk(mount):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path): continue
            f = os.open(path, os.O_RDONLY)
            at = 0
            while True:
                asked = bytearray(struct.pack("=QQLLLL", at, (1 << 63) - 1 - at, 0, 0, 64, 0) + bytes(56 * 64))
                fcntl.ioctl(f, FIEMAP, asked)
                mapped = struct.unpack_from("=L", asked, 20)[0]
                last = mapped == 0
                for i in range(mapped):
                    logical, physical, length, _, _, flags = struct.unpack_from("=QQQQQL", asked, 32 + 56 * i)
                    at, last = logical + length, last or bool(flags & 1)
                    if flags & (UNWRITTEN | UNREADABLE): continue
                    for start in range(physical, physical + length, 1 << 20):
                        n = min(1 << 20, physical + length - start)
                        seen = []
                        for (disk, offset), buffer in zip(disks, buffers):
                            view = memoryview(buffer)[:n]
                            if os.preadv(disk, [view], offset + start) != n: raise OSError("read in part")
                            seen.append(bytes(view))
                        done += n
                        if seen[0] != seen[1]: differ.append("%s at %d" % (path, logical + start - physical))
                if last: break
            # f stays open: as long as the file system is frozen, an XFS waits in the close of a file with blocks after its end.
finally:
    fcntl.ioctl(root, THAW, 0)
    os.kill(watchdog, 9)
print(done, "; ".join(differ[:5]))
`

// compareLegs reads the files from either leg, and holds them against each other.
func (t *diskTry) compareLegs(ctx context.Context, node string, a superdisk.Array) error {
	args := []string{"-c", comparing, dataAt}
	m := t.d.machines[node]
	for _, l := range a.Legs {
		super, err := superdisk.ReadSuperblock(ctx, m, l.Device)
		if err != nil {
			return err
		}
		args = append(args, fmt.Sprintf("%s:%d", l.Device, super.DataOffset()))
	}
	out, err := m.Run(ctx, infra.Command{Path: "python3", Args: args})
	if err != nil {
		return fmt.Errorf("compare the legs: %w: %s", err, out.Stderr)
	}
	count, differ, _ := strings.Cut(strings.TrimSpace(string(out.Stdout)), " ")
	bytes, err := strconv.ParseInt(count, 10, 64)
	if err != nil || bytes == 0 {
		return fmt.Errorf("compare the legs: %q: %w", out.Stdout, errors.Join(err, errNothingCompared))
	}
	t.Compared += bytes
	if differ != "" {
		t.trouble("the legs differ: %s", differ)
	}
	return nil
}

var errNothingCompared = errors.New("nothing was compared")

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
