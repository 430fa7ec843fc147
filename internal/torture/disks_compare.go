package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/infra"
	"plimsoll/superdisk"
)

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
