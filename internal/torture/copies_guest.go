package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/uml"
	"plimsoll/superdisk"
)

// guest is the lab's machine, and the devices of the legs there.
type guest struct {
	*uml.Machine
	local, network string
}

// arrayName is what superdisk/create calls it.
const arrayName = "superdisk"

func (g guest) sh(ctx context.Context, script string) (string, error) {
	out, err := g.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script}})
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", script, err, out.Stderr)
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

// fill writes the files that are compared, to the array and to the machine's memory.
func (g guest) fill(ctx context.Context) error {
	_, err := g.sh(ctx, `mkdir -p /run/truth; cd /run/truth
for i in $(seq 0 23); do dd if=/dev/urandom of=f$i bs=1M count=1 status=none; done
cp f* `+arrayAt+` && sync`)
	return err
}

// remember has the machine's memory hold what the array holds: a machine that was reset has forgotten.
func (g guest) remember(ctx context.Context) error {
	_, err := g.sh(ctx, `rm -rf /run/truth; mkdir -p /run/truth; cp `+arrayAt+`/f* /run/truth`)
	return err
}

// writing changes files in both places, until it is told that it is enough: pieces in the middle, and now and then a file anew. A write
// to the array is over when it is on disk. It is one process: to start others costs such a machine more than to write.
const writing = `import os, time
truth, array, n = "/run/truth/f%d", "` + arrayAt + `/f%d", 0
def put(name, data, at, flags):
    f = os.open(name, os.O_WRONLY | flags, 0o644)
    if os.pwrite(f, data, at) != len(data): raise OSError(name + " was written in part")
    os.fsync(f)
    os.close(f)
while not os.path.exists("/run/enough"):
    n += 1
    i, at = n * 7 % 24, n * 29 % 60
    if n % 23 == 0:
        data = os.urandom(1 << 20)
        os.remove(truth % i)
        os.remove(array % i)
        put(truth % i, data, 0, os.O_CREAT)
        put(array % i, data, 0, os.O_CREAT)
    else:
        data = os.urandom(16 << 10)
        put(truth % i, data, at << 14, 0)
        put(array % i, data, at << 14, 0)
    time.sleep(0.1)
`

// write begins to change files; the function that it returns ends that.
func (g guest) write(ctx context.Context) (end func(context.Context) error, err error) {
	if err := g.Remove(ctx, "/run/enough"); err != nil {
		return nil, fmt.Errorf("start the writer: %w", err)
	}
	p, err := g.Start(ctx, infra.Command{Path: "python3", Args: []string{"-c", writing}, Log: "/run/writer.log", Mark: "/writer"})
	if err != nil {
		return nil, fmt.Errorf("start the writer: %w", err)
	}
	return func(ctx context.Context) error {
		if _, err := g.sh(ctx, "touch /run/enough"); err != nil {
			return err
		}
		if err := p.Wait(ctx); err != nil {
			said, _ := g.sh(ctx, "tail -3 /run/writer.log")
			return fmt.Errorf("the writer: %w: %s", err, said)
		}
		return nil
	}, nil
}

// compare says what differs between the files of the array, which one leg serves alone, and those that were written, by their sha256.
// The file system is looked over as well. It is empty if nothing differs.
func (g guest) compare(ctx context.Context) (differ string, files int, err error) {
	device := superdisk.Path(arrayName)
	if err := superdisk.Unmount(ctx, g, arrayAt); err != nil {
		return "", 0, err
	}
	broken, err := g.sh(ctx, "blockdev --flushbufs "+device+"; echo 3 >/proc/sys/vm/drop_caches; xfs_repair -n "+device+" >/run/repair.log 2>&1 || tail -5 /run/repair.log")
	if err != nil {
		return "", 0, err
	}
	if err := superdisk.Mount(ctx, g, device, arrayAt); err != nil {
		return "", 0, err
	}
	if broken != "" {
		return "the file system is damaged: " + broken, 0, nil
	}
	truth, err := g.sh(ctx, `cd /run/truth && sha256sum $(ls f*)`)
	if err != nil {
		return "", 0, err
	}
	found, err := g.sh(ctx, `cd `+arrayAt+` && sha256sum $(ls f*)`)
	if err != nil {
		return "", 0, err
	}
	want, got := strings.Split(truth, "\n"), strings.Split(found, "\n")
	if len(want) != len(got) {
		return fmt.Sprintf("%d files, and %d were written", len(got), len(want)), 0, nil
	}
	for i := range want {
		if want[i] != got[i] {
			differ += fmt.Sprintf("%s, and %s was written; ", got[i], want[i])
		}
	}
	return differ, len(want), nil
}

// takeOut has the array go on without one of its legs.
func (g guest) takeOut(ctx context.Context, leg string) error {
	if err := superdisk.Fail(ctx, g, superdisk.Path(arrayName), leg); err != nil {
		return err
	}
	return superdisk.Remove(ctx, g, superdisk.Path(arrayName), leg)
}

// spoil makes a disk another's: all of it is noise, of which no piece is like the files. What is not copied to it is seen.
func (g guest) spoil(ctx context.Context, leg string) error {
	const noise = 16 // MiB that are written again and again: to make as much for the whole disk takes several times as long
	_, err := g.sh(ctx, fmt.Sprintf(`[ -e /run/noise ] || dd if=/dev/urandom of=/run/noise bs=1M count=%[1]d status=none || exit 1
n=0; while dd if=/run/noise of=%[2]s bs=1M seek=$((n * %[1]d)) count=%[1]d oflag=direct conv=notrunc status=none 2>/dev/null; do n=$((n + 1)); done
[ $n -ge %[3]d ] || { echo "$n of %[3]d pieces of noise were written to %[2]s" >&2; exit 1; }`, noise, leg, legSize/(noise<<20)))
	if err != nil {
		return err
	}
	return superdisk.Erase(ctx, g, leg)
}

// filling says that a copy of used bytes was begun and has not come to its end, and waits until its program has ended: it ends
// with the standard input that Plimsoll gave it.
func (g guest) filling(ctx context.Context) (bool, error) {
	for deadline := time.Now().Add(20 * time.Second); ; {
		out, err := g.sh(ctx, `ls /run/plimsoll-superdisk/*.json 2>/dev/null; pgrep -f 'superdisk [s]eed' >/dev/null && echo runs; true`)
		if err != nil {
			return false, err
		}
		if !strings.Contains(out, "runs") {
			return strings.Contains(out, ".json"), nil
		}
		if time.Now().After(deadline) {
			return true, fmt.Errorf("the copy still runs 20 s after its Plimsoll was killed: %s", out)
		}
		rest(ctx, 100*time.Millisecond)
	}
}

// awaitWritten waits until so many bytes were written to the local leg from now on.
func (g guest) awaitWritten(ctx context.Context, bytes int64) error {
	written := func() (int64, error) {
		said, err := g.ReadFile(ctx, "/sys/class/block/"+filepath.Base(g.local)+"/stat")
		if err != nil {
			return 0, err
		}
		words := strings.Fields(string(said))
		if len(words) < 7 {
			return 0, fmt.Errorf("the kernel counts %q of %s", said, g.local)
		}
		sectors, err := strconv.ParseInt(words[6], 10, 64)
		return sectors * 512, err
	}
	first, err := written()
	for now := first; err == nil && now <= first+bytes; now, err = written() {
		rest(ctx, 30*time.Millisecond)
	}
	return err
}

// whole says that both legs are in step.
func (g guest) whole(ctx context.Context) (bool, error) {
	s, err := superdisk.Inspect(ctx, g)
	if err != nil {
		return false, err
	}
	a, there := s.Find(arrayName)
	return there && a.Whole(), nil
}

// assemble does by hand what nobody does when a machine starts: it starts the array from its network leg alone.
func (g guest) assemble(ctx context.Context) error {
	if err := superdisk.StartAlone(ctx, g, arrayName, g.network, 1<<20); err != nil {
		return err
	}
	return superdisk.Mount(ctx, g, superdisk.Path(arrayName), arrayAt)
}
