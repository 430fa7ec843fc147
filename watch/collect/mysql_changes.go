package collect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"plimsoll/engine/secret"
	"plimsoll/watch"
)

// follower tells how a set of named texts differs from what it was.
type follower struct {
	kind   string
	before map[string]string
}

// turn takes the state of now; the first time there is nothing to compare it with.
func (f *follower) turn(at time.Time, now map[string]string) []watch.Change {
	before := f.before
	f.before = now
	if before == nil {
		return nil
	}
	var all []watch.Change
	for name, to := range now {
		if from, was := before[name]; !was || from != to {
			all = append(all, watch.Change{At: at, Kind: f.kind, What: name, From: from, To: to})
		}
	}
	for name, from := range before {
		if _, is := now[name]; !is {
			all = append(all, watch.Change{At: at, Kind: f.kind, What: name, From: from})
		}
	}
	slices.SortFunc(all, func(a, b watch.Change) int { return cmp.Compare(a.What, b.What) })
	return all
}

// moving are variables that a server changes by itself as it works; of those that end in _ all that begin so.
var moving = []string{
	"gtid_binlog_", "gtid_current_pos", "gtid_slave_pos", "gtid_executed", "gtid_purged", "gtid_next", "gtid_owned", "gtid_seq_no", "timestamp",
	"last_insert_id", "server_uid", "pseudo_", "rand_seed1", "rand_seed2", "error_count", "warning_count", "identity", "in_transaction",
}

func moves(variable string) bool {
	return slices.ContainsFunc(moving, func(m string) bool {
		return m == variable || strings.HasSuffix(m, "_") && strings.HasPrefix(variable, m)
	})
}

// settings follows the variables: each change, and the numbers as series.
func (s *slow) settingsChanged(ctx context.Context, now time.Time, r *watch.Reading) error {
	rows, err := s.rows(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return err
	}
	all := make(map[string]string, rows.Rows)
	for row := range rows.Rows {
		name, value := text(rows.At(row, 0)), text(rows.At(row, 1))
		if moves(name) {
			continue
		}
		all[name] = value
		if v, ok := numeric(value); ok && !secret.Is(name) {
			r.Add(now, "mysql_global_variables_"+metricName(name), v)
		}
	}
	r.Add(now, "mysql_version_info", 1, "innodb_version", all["innodb_version"], "version", all["version"], "version_comment", all["version_comment"])
	if onRDS(all) { // by this, alerts name what is allowed there
		r.Add(now, "plimsoll_rds", 1)
	}
	if all["aurora_version"] != "" {
		r.Add(now, "plimsoll_aurora", 1)
	}
	if level := cmp.Or(all["transaction_isolation"], all["tx_isolation"]); level != "" {
		r.Add(now, "mysql_transaction_isolation", 1, "level", level)
	}
	if name, galera := all["wsrep_cluster_name"]; galera {
		r.Add(now, "mysql_galera_variables_info", 1, "wsrep_cluster_name", name)
	}
	for _, change := range s.settings.turn(now, all) {
		if change.What == "version" {
			change.Kind = "version"
		}
		r.Changes = append(r.Changes, withoutSecretValues(change))
	}
	return nil
}

// systemSchemas hold no tables of a user.
const systemSchemas = "('mysql', 'information_schema', 'performance_schema', 'sys')"

// schemaChanged follows the table definitions by a hash of their columns and indexes, and asks how large all of them are.
func (s *slow) schemaChanged(ctx context.Context, now time.Time, r *watch.Reading) (*float64, error) {
	const what = "table definitions"
	if s.lacking(what) {
		return nil, nil
	}
	hashes := map[string]string{}
	for _, part := range []string{
		`SELECT TABLE_SCHEMA, TABLE_NAME, LOWER(HEX(BIT_XOR(CRC32(CONCAT_WS('|', ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COALESCE(COLUMN_DEFAULT, '-'), EXTRA,
COALESCE(COLLATION_NAME, '')))))) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN ` + systemSchemas + ` GROUP BY 1, 2`,
		`SELECT TABLE_SCHEMA, TABLE_NAME, LOWER(HEX(BIT_XOR(CRC32(CONCAT_WS('|', INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE, COALESCE(SUB_PART, ''))))))
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA NOT IN ` + systemSchemas + ` GROUP BY 1, 2`,
	} {
		rows, err := s.rows(ctx, part)
		if err != nil {
			if lost(err) {
				return nil, err
			}
			s.lack(what, err)
			return nil, nil //nolint:nilerr // there are too many tables to be read in the time, or it is not allowed: the list of what it lacks says so
		}
		for row := range rows.Rows {
			name := text(rows.At(row, 0)) + "." + text(rows.At(row, 1))
			hashes[name] = strings.TrimPrefix(hashes[name]+"-"+text(rows.At(row, 2)), "-")
		}
	}
	r.Changes = append(r.Changes, s.schema.turn(now, hashes)...)
	rows, err := s.rows(ctx, "SELECT TABLE_SCHEMA, SUM(DATA_LENGTH), SUM(INDEX_LENGTH) FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN "+systemSchemas+" GROUP BY 1")
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for row := range rows.Rows {
		data, _ := number(rows.At(row, 1))
		index, _ := number(rows.At(row, 2))
		sum += data + index
		r.Add(now, "plimsoll_schema_bytes", data+index, "schema", text(rows.At(row, 0)))
	}
	return &sum, nil
}
