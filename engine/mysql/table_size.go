package mysql

import (
	"context"
	"fmt"
	"strconv"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Sized = (*database)(nil)

// TableSize reads what information_schema last counted, which may be some seconds or, from MySQL 8.0 on, a day old.
func (c *control) TableSize(ctx context.Context, namespace, table string) (bytes int64, folder string, err error) {
	r := engine.Result{Keep: true}
	text := "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED), @@GLOBAL.datadir FROM information_schema.tables WHERE table_schema = " +
		admin.Text(namespace) + " AND table_name = " + admin.Text(table)
	if err := c.use(ctx, func(s *session) error { return s.Exec(ctx, text, &r) }); err != nil {
		return 0, "", fmt.Errorf("read the size of a table: %w", err)
	}
	if r.Rows == 0 {
		return 0, "", nil
	}
	bytes, err = strconv.ParseInt(shown(r.At(0, 0)), 10, 64)
	return bytes, shown(r.At(0, 1)), err
}
