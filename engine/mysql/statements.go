package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.StatementReading = (*database)(nil)

// StatementCounts reads the performance schema's summary by digest, where it is on.
func (d *database) StatementCounts(ctx context.Context) ([]engine.StatementCount, error) {
	const columns = `SELECT COALESCE(SCHEMA_NAME, '') AS s, DIGEST AS d, LEFT(DIGEST_TEXT, 4096) AS t, COUNT_STAR AS c,
		SUM_TIMER_WAIT / 1000000000000 AS w, SUM_ROWS_EXAMINED AS e, SUM_ROWS_SENT AS n`
	const from = ` FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NOT NULL ORDER BY SUM_TIMER_WAIT DESC LIMIT 500`
	rows, err := d.ask(ctx, columns+`, QUERY_SAMPLE_TEXT AS q`+from)
	if engine.ClassOf(err) == engine.Missing {
		rows, err = d.ask(ctx, columns+from) // MariaDB keeps no example
	}
	if err != nil {
		return nil, fmt.Errorf("read the counters of statements: %w", err)
	}
	all := make([]engine.StatementCount, len(rows))
	for i, r := range rows {
		seconds, _ := strconv.ParseFloat(r["w"], 64)
		all[i] = engine.StatementCount{
			Namespace: r["s"], Digest: r["d"], Text: r["t"], Calls: wholeOf(r["c"]), Seconds: seconds, Examined: wholeOf(r["e"]), Sent: wholeOf(r["n"]), Sample: r["q"],
		}
	}
	return all, nil
}

// StatementTexts reads the performance schema's history, where it is kept, else the list of sessions.
func (d *database) StatementTexts(ctx context.Context) ([]engine.StatementText, error) {
	rows, err := d.ask(ctx, `SELECT CONCAT(THREAD_ID, '.', EVENT_ID) AS i, COALESCE(CURRENT_SCHEMA, '') AS s, LEFT(SQL_TEXT, 4096) AS t
		FROM performance_schema.events_statements_history
		WHERE SQL_TEXT IS NOT NULL AND END_EVENT_ID IS NOT NULL AND THREAD_ID <> (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID())`)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	ended := err == nil && len(rows) > 0
	if !ended {
		rows, err = d.ask(ctx, `SELECT CONCAT(ID, '.', QUERY_ID) AS i, COALESCE(DB, '') AS s, LEFT(INFO, 4096) AS t FROM information_schema.PROCESSLIST
			WHERE COMMAND IN ('Query', 'Execute') AND INFO IS NOT NULL AND ID <> CONNECTION_ID()`)
		if engine.ClassOf(err) == engine.Missing { // MySQL numbers no statements
			rows, err = d.ask(ctx, `SELECT CONCAT(ID, '.', INFO) AS i, COALESCE(DB, '') AS s, LEFT(INFO, 4096) AS t FROM information_schema.PROCESSLIST
				WHERE COMMAND IN ('Query', 'Execute') AND INFO IS NOT NULL AND ID <> CONNECTION_ID()`)
		}
		if err != nil {
			return nil, fmt.Errorf("list the sessions: %w", err)
		}
	}
	all := make([]engine.StatementText, len(rows))
	for i, r := range rows {
		all[i] = engine.StatementText{ID: r["i"], Namespace: r["s"], Text: r["t"], Ended: ended}
	}
	return all, nil
}

// Explain implements engine.StatementReading.
func (d *database) Explain(ctx context.Context, namespace, text string) ([]engine.TableAccess, error) {
	var rows []map[string]string
	err := d.aside(ctx, func(s *session) error {
		if namespace != "" {
			if err := s.Exec(ctx, "USE "+admin.Name(namespace), nil); err != nil {
				return err
			}
		}
		text = strings.ReplaceAll(text, "?", "1") // a value of any kind: the plan is that of comparing with it
		var err error
		if rows, err = s.table(ctx, "EXPLAIN FORMAT=TRADITIONAL "+text); err != nil { // MySQL's default became a tree; MariaDB knows no other than a table
			rows, err = s.table(ctx, "EXPLAIN "+text)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("explain a statement: %w", err)
	}
	all := make([]engine.TableAccess, len(rows))
	for i, r := range rows {
		n, _ := strconv.ParseFloat(r["rows"], 64)
		all[i] = engine.TableAccess{Table: r["table"], Access: r["type"], Key: r["key"], Rows: n, Extra: r["Extra"]}
	}
	return all, nil
}

// TableShape implements engine.StatementReading.
func (d *database) TableShape(ctx context.Context, namespace, table string) (engine.TableShape, error) {
	at := " WHERE TABLE_SCHEMA = " + admin.Text(namespace) + " AND TABLE_NAME = " + admin.Text(table)
	shape := engine.TableShape{Columns: map[string]int64{}, Indexes: map[string][]string{}, Unique: map[string]bool{}, Varying: map[string]bool{}}
	sizes, err := d.ask(ctx, "SELECT TABLE_ROWS AS n, DATA_LENGTH AS d, INDEX_LENGTH AS i FROM information_schema.TABLES"+at)
	if err != nil {
		return shape, fmt.Errorf("ask for the table %s.%s: %w", namespace, table, err)
	}
	if len(sizes) == 0 {
		return shape, &engine.Error{Kind: engine.Missing, Text: fmt.Sprintf("there is no table %s.%s that this account can see", namespace, table)}
	}
	shape.Rows, shape.Data, shape.IndexBytes = wholeOf(sizes[0]["n"]), wholeOf(sizes[0]["d"]), wholeOf(sizes[0]["i"])
	columns, err := d.ask(ctx, "SELECT COLUMN_NAME AS c, DATA_TYPE AS t, COALESCE(CHARACTER_OCTET_LENGTH, 0) AS b FROM information_schema.COLUMNS"+at)
	if err != nil {
		return shape, fmt.Errorf("ask for the columns of %s.%s: %w", namespace, table, err)
	}
	for _, c := range columns {
		shape.Columns[c["c"]] = max(widths[c["t"]], wholeOf(c["b"]))
		shape.Varying[c["c"]] = widths[c["t"]] == 0 && wholeOf(c["b"]) > 0
	}
	keys, err := d.ask(ctx, "SELECT INDEX_NAME AS i, COLUMN_NAME AS c, NON_UNIQUE AS n FROM information_schema.STATISTICS"+at+" AND COLUMN_NAME IS NOT NULL ORDER BY INDEX_NAME, SEQ_IN_INDEX")
	if err != nil {
		return shape, fmt.Errorf("ask for the indexes of %s.%s: %w", namespace, table, err)
	}
	for _, k := range keys {
		shape.Indexes[k["i"]] = append(shape.Indexes[k["i"]], k["c"])
		shape.Unique[k["i"]] = k["n"] == "0"
	}
	return shape, nil
}

// widths are the bytes of types that have a length of their own.
var widths = map[string]int64{
	"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "float": 4, "double": 8, "decimal": 8, "date": 3, "time": 5, "datetime": 8,
	"timestamp": 7, "year": 1, "enum": 2, "set": 8, "bit": 8,
}

// ask runs a query for its rows.
func (d *database) ask(ctx context.Context, text string) (rows []map[string]string, err error) {
	err = d.control.use(ctx, func(s *session) error {
		rows, err = s.table(ctx, text)
		return err
	})
	return rows, err
}

func wholeOf(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
