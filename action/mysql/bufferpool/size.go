package bufferpool

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// measure fills in how many rows a table has and how many pages its indexes take, from the statistics that servers keep,
// partitions added up.
//
// Pages are counted, not sampled, when the statistics are made: after a tenth of the rows has changed, or by ANALYZE
// TABLE. A table that keeps none is judged by information_schema.tables, where all its secondary indexes are one number.
func measure(ctx context.Context, s engine.Session, t part, all []index) error {
	pageSize, err := number(ctx, s, admin.Global("innodb_page_size"))
	if err != nil {
		return err
	}
	of := []engine.Value{chars(t.schema), chars(t.table), chars(partitions(t.table))}
	rows, err := query(ctx, s, "SELECT SUM(n_rows) FROM mysql.innodb_table_stats "+ofTable, of...)
	if err != nil {
		return fmt.Errorf("ask for the size of %s: %w", t, err)
	}
	pages, err := query(ctx, s, `SELECT index_name, SUM(IF(stat_name = 'size', stat_value, 0)), SUM(IF(stat_name = 'n_leaf_pages', stat_value, 0))
		FROM mysql.innodb_index_stats `+ofTable+" GROUP BY table_name, index_name", of...)
	if err != nil {
		return fmt.Errorf("ask for the size of %s: %w", t, err)
	}
	if pages.Rows == 0 {
		return guess(ctx, s, t, all, pageSize)
	}
	for n := range all {
		i := &all[n]
		i.pageSize = pageSize
		if i.rows, err = real(rows.At(0, 0)); err != nil {
			return err
		}
		for row := range pages.Rows {
			if !strings.EqualFold(string(pages.At(row, 0).Data), i.index) {
				continue
			}
			size, err := real(pages.At(row, 1))
			if err != nil {
				return err
			}
			leaves, err := real(pages.At(row, 2))
			if err != nil {
				return err
			}
			i.pages += size
			i.leaves += atLeast(leaves, size)
		}
	}
	return nil
}

// atLeast mends the count of leaves where it says 1 of an index that has more, as MariaDB 10.11 does of those of two levels.
// A part of an index takes its first 32 pages one by one, then 64 at a time: so many may be empty.
func atLeast(leaves, pages float64) float64 {
	const single, extent = 32, 64
	switch {
	case leaves > 1 || pages <= 2:
		return leaves
	case pages <= single+1:
		return pages - 1
	}
	return max(pages-extent, single+1)
}

const ofTable = "WHERE database_name = ? AND (table_name = ? OR LOWER(table_name) LIKE ?)"

// partitions is a pattern for how InnoDB calls a table's partitions: orders#p#p0, in some versions with a capital P.
func partitions(table string) string {
	return admin.Pattern(strings.ToLower(table)) + "#p#%"
}

func guess(ctx context.Context, s engine.Session, t part, all []index, pageSize float64) error {
	r, err := query(ctx, s, "SELECT table_rows, data_length, index_length FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		chars(t.schema), chars(t.table))
	if err != nil || r.Rows == 0 {
		return err
	}
	var numbers [3]float64
	for n := range numbers {
		if numbers[n], err = real(r.At(0, n)); err != nil {
			return err
		}
	}
	for n := range all {
		bytes := numbers[1]
		if !all[n].clustered {
			bytes = numbers[2] / float64(len(all)-1)
		}
		all[n].pageSize, all[n].rows, all[n].pages, all[n].leaves = pageSize, numbers[0], bytes/pageSize, bytes/pageSize
	}
	return nil
}

// total is how many bytes indexes take together.
func total(all []index) float64 {
	sum := 0.0
	for _, i := range all {
		sum += i.bytes()
	}
	return sum
}

// size writes bytes for a person.
func size(bytes float64) string {
	for _, u := range []struct {
		unit string
		of   float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		if bytes >= u.of {
			return fmt.Sprintf("%.3g %s", bytes/u.of, u.unit)
		}
	}
	return fmt.Sprintf("%.3g KiB", bytes/(1<<10))
}
