package mysql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.PageCaching = (*database)(nil)

var (
	poolStatus = []string{
		"Innodb_page_size", "Innodb_buffer_pool_pages_total", "Innodb_buffer_pool_pages_data", "Innodb_buffer_pool_pages_free",
		"Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_pages_read",
		"Innodb_pages_created", "Innodb_data_reads", "Innodb_data_writes", "Innodb_log_writes", "Innodb_os_log_fsyncs", "Innodb_buffer_pool_load_incomplete", "Uptime", "Questions", "Com_commit",
	}
	poolVariables = []string{
		"innodb_buffer_pool_size", "innodb_buffer_pool_instances", "innodb_lru_scan_depth", "innodb_old_blocks_time", "innodb_page_size",
	}
)

// PageCache reads the status and settings of the buffer pool.
func (d *database) PageCache(ctx context.Context) (engine.PageCache, error) {
	status, err := d.shown(ctx, admin.Status(poolStatus...))
	if err != nil {
		return engine.PageCache{}, fmt.Errorf("read the status of the buffer pool: %w", err)
	}
	set, err := d.shown(ctx, admin.Variables(poolVariables...))
	if err != nil {
		return engine.PageCache{}, fmt.Errorf("read the settings of the buffer pool: %w", err)
	}
	count := func(name string) int64 { n, _ := strconv.ParseInt(status[name], 10, 64); return n }
	setting := func(name string) int64 { n, _ := strconv.ParseInt(set[name], 10, 64); return n }
	c := engine.PageCache{
		PageSize: setting("innodb_page_size"), Size: setting("innodb_buffer_pool_size"), Pages: count("Innodb_buffer_pool_pages_total"),
		Data: count("Innodb_buffer_pool_pages_data"), Free: count("Innodb_buffer_pool_pages_free"), Dirty: count("Innodb_buffer_pool_pages_dirty"),
		Parts: int(max(setting("innodb_buffer_pool_instances"), 1)), Uptime: time.Duration(count("Uptime")) * time.Second,
		Loading:  strings.EqualFold(status["Innodb_buffer_pool_load_incomplete"], "ON"),
		Requests: count("Innodb_buffer_pool_read_requests"), Waited: count("Innodb_buffer_pool_reads"), Read: count("Innodb_pages_read"),
		DiskReads: count("Innodb_data_reads"), Written: count("Innodb_data_writes"),
		Created: count("Innodb_pages_created"), Statement: count("Questions"), Commits: count("Com_commit"),
		Promotes: time.Duration(setting("innodb_old_blocks_time")) * time.Millisecond,
	}
	if _, within := status["Innodb_os_log_fsyncs"]; !within {
		c.Written += count("Innodb_log_writes") // MariaDB since 10.8 counts them apart
	}
	if _, divided := set["innodb_buffer_pool_instances"]; !divided {
		c.Parts = 1 // MariaDB since 10.5
	}
	c.KeepsFree = setting("innodb_lru_scan_depth") * int64(c.Parts)
	return c, nil
}

// CachedPages reads information_schema.innodb_buffer_page_lru, in which position 0 is the page that leaves next.
func (d *database) CachedPages(ctx context.Context, every int) ([]engine.PageList, error) {
	text := "SELECT pool_id, lru_position, space, page_number FROM information_schema.innodb_buffer_page_lru"
	if every > 1 {
		text += fmt.Sprintf(" WHERE CRC32(CONCAT(space, ',', page_number)) %% %d = 0", every)
	}
	r := engine.Result{Keep: true}
	var sizes engine.Result
	sizes.Keep = true
	err := d.aside(ctx, func(s *session) error {
		if err := s.Exec(ctx, text, &r); err != nil {
			return err
		}
		return s.Exec(ctx, "SELECT pool_id, database_pages FROM information_schema.innodb_buffer_pool_stats", &sizes)
	})
	if err != nil {
		return nil, pagesError(err)
	}
	totals := map[int64]int{}
	for row := range sizes.Rows {
		totals[whole(sizes.At(row, 0))] = int(whole(sizes.At(row, 1)))
	}
	return partsOf(&r, totals), nil
}

// aside uses a session of its own, for what takes long: others go on asking.
func (d *database) aside(ctx context.Context, f func(*session) error) error {
	s, err := d.session(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// partsOf sorts rows of pool, position, space and number into lists, used last first.
func partsOf(r *engine.Result, totals map[int64]int) []engine.PageList {
	type entry struct {
		position int64
		page     engine.Page
	}
	parts := map[int64][]entry{}
	last := int64(0)
	for row := range r.Rows {
		pool := whole(r.At(row, 0))
		last = max(last, pool)
		parts[pool] = append(parts[pool], entry{whole(r.At(row, 1)), engine.Page(whole(r.At(row, 2))<<32 | whole(r.At(row, 3)))})
	}
	var lists []engine.PageList
	for pool := int64(0); pool <= last; pool++ {
		rows := parts[pool]
		l := engine.PageList{Total: totals[pool], Pages: make([]engine.Page, len(rows)), Ranks: make([]int32, len(rows))}
		if len(rows) > 0 { // the table came a moment before the counter
			l.Total = max(l.Total, int(rows[len(rows)-1].position)+1)
		}
		for i, e := range rows {
			at := len(rows) - 1 - i
			l.Pages[at], l.Ranks[at] = e.page, int32(l.Total-1-int(e.position))
		}
		lists = append(lists, l)
	}
	return lists
}

// whole is a number that the text protocol sends, whichever type the column has.
func whole(v engine.Value) int64 {
	if v.Kind == engine.Integer {
		return v.Int
	}
	n, _ := strconv.ParseInt(string(v.Data), 10, 64)
	return n
}

// pagesError adds to a refusal which privilege is missing.
func pagesError(err error) error {
	if engine.ClassOf(err) == engine.Denied {
		return fmt.Errorf("list the pages of the buffer pool (this needs the PROCESS privilege): %w", err)
	}
	return fmt.Errorf("list the pages of the buffer pool: %w", err)
}

// CachedObjects groups the pages of the pool by table and index.
func (d *database) CachedObjects(ctx context.Context) ([]engine.CachedObject, error) {
	const text = `SELECT COALESCE(table_name, ''), COALESCE(index_name, ''), COUNT(*), SUM(oldest_modification > 0)
		FROM information_schema.innodb_buffer_page_lru GROUP BY 1, 2 ORDER BY 3 DESC`
	r := engine.Result{Keep: true}
	if err := d.aside(ctx, func(s *session) error { return s.Exec(ctx, text, &r) }); err != nil {
		return nil, pagesError(err)
	}
	all := make([]engine.CachedObject, r.Rows)
	for i := range all {
		all[i] = engine.CachedObject{
			Table: plainTable(string(r.At(i, 0).Data)), Index: string(r.At(i, 1).Data), Pages: whole(r.At(i, 2)), Dirty: whole(r.At(i, 3)),
		}
	}
	return all, nil
}

// plainTable writes `shop`.`orders` as shop.orders.
func plainTable(quoted string) string { return strings.ReplaceAll(quoted, "`", "") }

// DataSpaces reads the list of tablespaces, under MySQL's name or MariaDB's.
func (d *database) DataSpaces(ctx context.Context) ([]engine.DataSpace, error) {
	r := engine.Result{Keep: true}
	err := d.control.use(ctx, func(s *session) error {
		const columns = "SELECT space, name, file_size FROM information_schema."
		err := s.Exec(ctx, columns+"innodb_tablespaces", &r)
		if engine.ClassOf(err) == engine.Missing {
			err = s.Exec(ctx, columns+"innodb_sys_tablespaces", &r)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the tablespaces: %w", err)
	}
	all := make([]engine.DataSpace, r.Rows)
	for i := range all {
		all[i] = engine.DataSpace{
			ID: uint32(whole(r.At(i, 0))), Table: strings.ReplaceAll(string(r.At(i, 1).Data), "/", "."), Bytes: whole(r.At(i, 2)),
		}
	}
	return all, nil
}
