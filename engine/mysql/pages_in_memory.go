package mysql

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// InMemory counts the pages of the namespace's tables and indexes in the buffer pool. MySQL keeps such counts, except for
// partitions; MariaDB has to go through the whole pool, which holds up other work for about a second per 10 GiB.
func (d *database) InMemory(ctx context.Context, namespace string) (pages int64, err error) {
	like := admin.Pattern(namespace)
	err = d.control.use(ctx, func(s *session) error {
		r := engine.Result{Keep: true}
		err := s.Exec(ctx, countedPages+admin.Text(like+"/%"), &r)
		if engine.ClassOf(err) == engine.Missing {
			err = s.Exec(ctx, scannedPages+admin.Text("`"+like+"`.%"), &r)
		}
		if err != nil {
			return err
		}
		pages = r.At(0, 0).Int
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count pages in memory: %w", err)
	}
	return pages, nil
}

const (
	countedPages = `SELECT CAST(COALESCE(SUM(c.n_cached_pages), 0) AS SIGNED) FROM information_schema.innodb_tables t
		JOIN information_schema.innodb_indexes i ON i.table_id = t.table_id
		JOIN information_schema.innodb_cached_indexes c ON c.index_id = i.index_id AND c.space_id = i.space WHERE t.name LIKE `
	scannedPages = "SELECT COUNT(*) FROM information_schema.innodb_buffer_page WHERE page_type = 'INDEX' AND table_name LIKE "
)
