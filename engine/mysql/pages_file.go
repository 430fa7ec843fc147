package mysql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// pageFile has the server write its list, where it can into a file of another name than the one it warms itself up from. The
// name says what the settings were, so that they can be put back by whoever finds it. MariaDB's file has one name: there the
// list stands in place of the server's own, which Close has it write again.
type pageFile struct {
	*control

	folder, name     string
	formerName, part string // what the settings were
}

// listPrefix begins the name of such a file: plimsoll-pages-25-ib_buffer_pool was 25 percent of ib_buffer_pool.
const listPrefix = "plimsoll-pages-"

// PageListFile is nil where the pool has several parts: their lists stand in the file one after another, without a border.
func (d *database) PageListFile(ctx context.Context) (engine.PageListFile, error) {
	set, err := d.shown(ctx, admin.Variables(
		"innodb_buffer_pool_filename", "innodb_buffer_pool_dump_pct", "innodb_buffer_pool_instances", "innodb_data_home_dir", "datadir",
	))
	if err != nil {
		return nil, fmt.Errorf("read the settings of the buffer pool: %w", err)
	}
	if parts := set["innodb_buffer_pool_instances"]; parts != "" && parts != "1" {
		return nil, nil
	}
	f := &pageFile{control: d.control, folder: set["datadir"], formerName: set["innodb_buffer_pool_filename"], part: set["innodb_buffer_pool_dump_pct"]}
	if home := set["innodb_data_home_dir"]; path.IsAbs(home) {
		f.folder = home
	}
	if rest, left := strings.CutPrefix(f.formerName, listPrefix); left { // by one who could not put it back
		f.part, f.formerName, _ = strings.Cut(rest, "-")
	}
	f.name = listPrefix + f.part + "-" + f.formerName
	err = f.set(ctx, "innodb_buffer_pool_filename", admin.Text(f.name))
	var refused *engine.Error
	if errors.As(err, &refused) && refused.Code == readOnlyVariable {
		f.name, err = f.formerName, nil
	}
	if err != nil {
		return nil, err
	}
	if err := f.set(ctx, "innodb_buffer_pool_dump_pct", "100"); err != nil {
		return nil, errors.Join(err, f.Close(context.WithoutCancel(ctx)))
	}
	return f, nil
}

func (f *pageFile) set(ctx context.Context, name, value string) error {
	err := f.use(ctx, func(s *session) error { return s.Exec(ctx, admin.SetGlobal(name, value), nil) })
	if err != nil {
		return fmt.Errorf("set %s to %s: %w", name, value, err)
	}
	return nil
}

func (f *pageFile) Path() string { return path.Join(f.folder, f.name) }

func (f *pageFile) Write(ctx context.Context) error {
	return f.use(ctx, func(s *session) error { return s.Exec(ctx, admin.SetGlobal("innodb_buffer_pool_dump_now", "ON"), nil) })
}

// Parse reads lines of space,page: the page that was used last stands first.
func (f *pageFile) Parse(data []byte) (engine.PageList, error) {
	n := bytes.Count(data, []byte{'\n'})
	l := engine.PageList{Pages: make([]engine.Page, 0, n), Ranks: make([]int32, 0, n)}
	for line := range bytes.Lines(data) {
		space, number, ok := strings.Cut(strings.TrimSpace(string(line)), ",")
		s, err := strconv.ParseUint(space, 10, 32)
		p, err2 := strconv.ParseUint(number, 10, 32)
		if !ok || err != nil || err2 != nil {
			return engine.PageList{}, fmt.Errorf("line %d of %s is not a page", len(l.Pages)+1, f.Path())
		}
		l.Ranks = append(l.Ranks, int32(len(l.Pages)))
		l.Pages = append(l.Pages, engine.Page(s<<32|p))
	}
	l.Total = len(l.Pages)
	return l, nil
}

func (f *pageFile) Close(ctx context.Context) error {
	if err := f.set(ctx, "innodb_buffer_pool_dump_pct", f.part); err != nil {
		return err
	}
	if f.name == f.formerName {
		return f.Write(ctx)
	}
	return f.set(ctx, "innodb_buffer_pool_filename", admin.Text(f.formerName))
}

// OfTheServer tells whether the file is the server's own, to stay after Close.
func (f *pageFile) OfTheServer() bool { return f.name == f.formerName }
