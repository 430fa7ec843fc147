package bufferpool

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// cost is what a look into the buffer pool may cost the server.
type cost int

const (
	cheap  cost = iota // MySQL counts pages by index: INNODB_CACHED_INDEXES
	costly             // going through every page of the pool: INNODB_BUFFER_PAGE
)

// counts tells whether a server counts the pages of each index in its memory.
func counts(ctx context.Context, s engine.Session) (bool, error) {
	n, err := number(ctx, s, `SELECT COUNT(*) FROM information_schema.tables
		WHERE table_schema = 'information_schema' AND table_name = 'INNODB_CACHED_INDEXES'`)
	return n > 0, err
}

// inMemory is the share of the indexes' pages that are in the buffer pool, from 0 to 1.
func inMemory(ctx context.Context, s engine.Session, all []index, most cost) (float64, error) {
	counted, err := counts(ctx, s)
	if err != nil {
		return 0, err
	}
	var have, want float64
	for _, i := range all {
		ask := pagesByScan
		switch {
		case counted && !i.partitioned:
			ask = pagesByCount
		case most == cheap:
			return 0, &hint.PermanentError{
				Reason: fmt.Sprintf("this server does not count the pages of %s in memory: it would have to scan its whole buffer pool", i),
				Advice: "costly: true allows the scan (it blocks other work for about a second per 10 GiB); or wait for the miss rate instead",
			}
		}
		n, err := ask(ctx, s, i)
		if err != nil {
			return 0, fmt.Errorf("count the pages of %s in memory: %w", i, err)
		}
		have += min(n, i.leaves)
		want += i.leaves
	}
	if want == 0 {
		return 1, nil
	}
	return have / want, nil
}

// pagesByCount asks MySQL's own counters, which leave out partitions. Names stand there as they do in file names.
func pagesByCount(ctx context.Context, s engine.Session, i index) (float64, error) {
	r, err := query(ctx, s, `SELECT SUM(c.n_cached_pages), COUNT(*) FROM information_schema.innodb_tables t
		JOIN information_schema.innodb_indexes i ON i.table_id = t.table_id
		LEFT JOIN information_schema.innodb_cached_indexes c ON c.index_id = i.index_id AND c.space_id = i.space
		WHERE t.name = ? AND i.name = ?`, chars(i.schema+"/"+i.table), chars(i.index))
	if err != nil {
		return 0, err
	}
	if found := r.At(0, 1).Int; found == 0 {
		return 0, errors.New("the server has no index of that name")
	}
	return real(r.At(0, 0))
}

// pagesByScan goes through the pool. There names stand in backticks, partitions in a comment behind.
func pagesByScan(ctx context.Context, s engine.Session, i index) (float64, error) {
	name := admin.Name(i.schema) + "." + admin.Name(i.table)
	r, err := query(ctx, s, `SELECT COUNT(*) FROM information_schema.innodb_buffer_page
		WHERE page_type = 'INDEX' AND index_name = ? AND (table_name = ? OR table_name LIKE ?)`,
		chars(i.index), chars(name), chars(admin.Pattern(name)+" /*%"))
	if err != nil {
		return 0, err
	}
	return real(r.At(0, 0))
}
