package collect

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
	"plimsoll/watch"
)

// Runner runs commands where a server's data lies; an infra.Machine.
type Runner interface {
	Run(ctx context.Context, c infra.Command) (infra.Output, error)
}

// Disk reads once a minute how much room there is where a server keeps its data, on its machine. Where that is, one of the collectors beside it
// finds among what it reads anyway: no connection is opened for it. nil: none of them finds it.
func Disk(beside []watch.Collector, on Runner) watch.Collector {
	for _, c := range beside {
		switch c := c.(type) {
		case *quick:
			return &disk{of: c.server, on: on}
		case *cassandra:
			return &disk{of: c.server, on: on}
		}
	}
	return nil
}

type disk struct {
	of *server
	on Runner
}

var _ watch.Collector = (*disk)(nil)

// Close implements watch.Collector. A machine that was reached for it is let go.
func (d *disk) Close() error {
	if c, ok := d.on.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Collect implements watch.Collector.
func (d *disk) Collect(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	if level < watch.Minute {
		return r, nil
	}
	folder := d.of.dataFolder()
	if folder == "" { // the others have not found it yet
		r.Missed = level
		return r, nil
	}
	if !strings.HasPrefix(folder, "/") {
		return r, fmt.Errorf("the data directory is %q, which is not a path", folder)
	}
	total, free, err := room(ctx, d.on, folder)
	if err != nil {
		return r, err
	}
	r.Add(now, "plimsoll_disk_total_bytes", total)
	r.Add(now, "plimsoll_disk_free_bytes", free)
	r.Show = func(i *watch.Instance) {
		shown := watch.Disk{}
		if i.Disk != nil {
			shown = *i.Disk
		}
		shown.Total, shown.Free = &total, &free
		i.Disk = &shown
	}
	return r, nil
}

// dataFolders is the setting of a node of Cassandra, and of ScyllaDB, that names where it keeps its data.
const dataFolders = "data_file_directories"

// firstFolder is the first of several, as Cassandra writes them; ScyllaDB quotes each.
func firstFolder(shown string) string {
	list, is := strings.CutPrefix(shown, "[")
	if !is {
		return shown
	}
	folder, _, _ := strings.Cut(strings.TrimSuffix(list, "]"), ",")
	return strings.Trim(folder, `"`)
}

// room asks df, in POSIX' own form, for the size of a file system and for what of it is left to who is not root, in bytes.
func room(ctx context.Context, on Runner, folder string) (total, free float64, err error) {
	out, err := on.Run(ctx, infra.Command{Path: "df", Args: []string{"-P", "-k", folder}, Env: []string{"LC_ALL=C"}})
	if err != nil {
		return 0, 0, fmt.Errorf("read the free space at %s: %w", folder, err)
	}
	lines := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(lines) < 2 || len(fields) < 6 {
		return 0, 0, fmt.Errorf("read the free space at %s: df says %q", folder, out.Stdout)
	}
	at := len(fields) - 5 // a file system's own name may hold blanks
	size, err1 := strconv.ParseFloat(fields[at], 64)
	left, err2 := strconv.ParseFloat(fields[at+2], 64)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("read the free space at %s: df says %q", folder, out.Stdout)
	}
	return 1024 * size, 1024 * left, nil
}
