package collect

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/watch"
)

// Runner runs commands where a server's data lies; an infra.Machine.
type Runner interface {
	Run(ctx context.Context, c infra.Command) (infra.Output, error)
}

// Disk reads once a minute how much room there is where a server of MySQL or MariaDB keeps its data, on its machine. Where that is, the
// server is asked once.
func Disk(dial Dial, on Runner) watch.Collector {
	return &disk{dial: dial, on: on, where: "SELECT @@datadir"}
}

// CassandraDisk is Disk for a node of Cassandra. Of several folders it reads the first. ScyllaDB has its settings in another table. A node
// without either is asked once, and the first is listed under what it lacks.
func CassandraDisk(dial Dial, on Runner) watch.Collector {
	const named = " WHERE name = 'data_file_directories'"
	return &disk{dial: dial, on: on, table: settings, where: "SELECT value FROM " + settings + named, otherwise: "SELECT value FROM system.config" + named}
}

const settings = "system_views.settings"

type disk struct {
	dial      Dial
	on        Runner
	where     string // asks for the folder
	table     string // of which it asks; "" for a question that every server can answer
	otherwise string // asks a server that does not show the table; ""
	folder    string
	lacks     bool // the server shows neither
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
	if level >= watch.Minute && d.folder == "" && !d.lacks {
		if err := d.ask(ctx); err != nil {
			return r, err
		}
	}
	if d.lacks {
		r.Show = func(i *watch.Instance) { i.Watching.Lacks = union(i.Watching.Lacks, []string{d.table}) }
		return r, nil
	}
	if level < watch.Minute {
		return r, nil
	}
	total, free, err := room(ctx, d.on, d.folder)
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

func (d *disk) ask(ctx context.Context) error {
	s, err := d.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it was asked once
	rows := engine.Result{Keep: true}
	err = s.Exec(ctx, d.where, &rows)
	if err != nil && lasting(err) && d.otherwise != "" {
		rows = engine.Result{Keep: true}
		err = s.Exec(ctx, d.otherwise, &rows)
	}
	if err != nil {
		if d.lacks = d.table != "" && lasting(err); d.lacks {
			return nil
		}
		return fmt.Errorf("read the data directory: %w", err)
	}
	if rows.Rows == 1 {
		d.folder = text(rows.At(0, 0))
	}
	if list, is := strings.CutPrefix(d.folder, "["); is { // as Cassandra writes several; ScyllaDB quotes each
		d.folder, _, _ = strings.Cut(strings.TrimSuffix(list, "]"), ",")
		d.folder = strings.Trim(d.folder, `"`)
	}
	if !strings.HasPrefix(d.folder, "/") {
		return fmt.Errorf("the data directory is %q, which is not a path", d.folder)
	}
	return nil
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
