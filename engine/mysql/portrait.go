package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/engine/secret"
)

var _ engine.Portrayed = (*database)(nil)

// identity are variables, or how they begin, that say where a server is, who it is and how it is reached.
var identity = []string{
	"admin_", "basedir", "bind_address", "character_sets_dir", "core_file", "datadir", "event_scheduler", "general_log", "gtid_", "have_", "hostname",
	"init_file", "innodb_data_file_path", "innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_temp", "innodb_undo_directory",
	"innodb_directories", "lc_messages", "license", "local_infile", "log_bin_basename", "log_bin_index", "log_error", "log_slave_updates", "log_replica_updates", "mysqlx", "named_pipe",
	"performance_schema", "persisted_globals", "pid_file", "plugin", "port", "proxy_protocol", "read_only", "relay_log", "report_", "rpl_", "secure_file_priv",
	"server_audit", "server_id", "server_uuid", "skip_", "slave_load_tmpdir", "replica_load_tmpdir", "slow_query_log_file", "socket", "ssl", "super_read_only",
	"system_time_zone", "tls_", "tmpdir", "user", "version", "wsrep_", "authentication_", "caching_sha2", "sha256_", "validate_password", "feedback", "in_", "external_user",
	"innodb_data_home", "enforce_gtid", "back_log", "auto_generate_certs", "require_secure_transport", "generated_random_password", "log_basename", "extra_port", "open_files_limit",
}

func isIdentity(name string) bool {
	return slices.ContainsFunc(identity, func(begins string) bool { return strings.HasPrefix(name, begins) })
}

// given ask for the variables that somebody set, in an option file, on the command line or while the server runs; of MariaDB and MySQL.
var given = []string{
	"SELECT LOWER(variable_name) AS name, global_value AS value FROM information_schema.system_variables WHERE global_value_origin IN ('CONFIG', 'COMMAND-LINE', 'SQL') AND global_value IS NOT NULL",
	"SELECT LOWER(i.variable_name) AS name, g.variable_value AS value FROM performance_schema.variables_info i " +
		"JOIN performance_schema.global_variables g USING (variable_name) WHERE i.variable_source <> 'COMPILED' AND i.variable_source <> 'LOGIN'",
}

// Configured implements engine.Portrayed.
func (d *database) Configured(ctx context.Context) (settings map[string]string, without []string, err error) {
	var rows []map[string]string
	err = d.use(ctx, func(s *session) (err error) {
		var errs []error
		for _, text := range given {
			if rows, err = s.table(ctx, text); err == nil {
				return nil
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the settings: %w", err)
	}
	settings, without = configured(rows)
	return settings, without, nil
}

// configured are the settings that another server can have too. What may hold a secret is only named: the settings are written into a file.
func configured(rows []map[string]string) (settings map[string]string, without []string) {
	settings = map[string]string{}
	for _, row := range rows {
		name, value := row["name"], row["value"]
		switch {
		case isIdentity(name) || value == "":
		case secret.Of(name, value):
			without = append(without, "the setting "+name+" (its value may hold a secret)")
		default:
			settings[name] = value
		}
	}
	slices.Sort(without)
	return settings, without
}

// systemSchemas are the server's own, and the one in which Plimsoll keeps its claim.
const systemSchemas = "('mysql', 'sys', 'information_schema', 'performance_schema', 'plimsoll')"

// Schema implements engine.Portrayed.
func (d *database) Schema(ctx context.Context) (statements, without []string, err error) {
	g, err := d.grants(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the schema: %w", err)
	}
	err = d.use(ctx, func(s *session) (err error) {
		p := portrait{ctx: ctx, session: s}
		statements, without, err = p.schema()
		without = append(without, p.denied...)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the schema: %w", err)
	}
	return statements, append(without, g.hidden()...), nil
}

// hidden says what an account may not see of a schema. A server shows it nothing of the rest, not even that there is more.
func (g *grants) hidden() []string {
	if g.has("SELECT", "") {
		return nil
	}
	return []string{fmt.Sprintf("databases and tables that account %s may not see, because it has no SELECT on *.* (as an administrator: GRANT SELECT, SHOW VIEW ON *.* TO %s;)", g.account, g.account)}
}

// portrait reads one server's schema.
type portrait struct {
	ctx     context.Context
	session *session
	denied  []string // what the account may not read
}

func (p *portrait) schema() (statements, without []string, err error) {
	databases, err := p.create("DATABASE", "SELECT schema_name AS a FROM information_schema.schemata WHERE schema_name NOT IN "+systemSchemas+" ORDER BY 1")
	if err != nil {
		return nil, nil, err
	}
	if len(databases) == 0 {
		return nil, nil, nil
	}
	of := func(kind string) string {
		return "SELECT table_schema AS a, table_name AS b FROM information_schema.tables WHERE table_type = '" + kind + "' AND table_schema NOT IN " + systemSchemas + " ORDER BY 1, 2"
	}
	tables, err := p.create("TABLE", of("BASE TABLE"))
	if err != nil {
		return nil, nil, err
	}
	views, err := p.create("VIEW", of("VIEW"))
	if err != nil {
		return nil, nil, err
	}
	statements = slices.Concat([]string{"SET foreign_key_checks = 0"}, databases, tables, views)
	for what, from := range map[string]string{
		"triggers": "information_schema.triggers WHERE trigger_schema", "procedures and functions": "information_schema.routines WHERE routine_schema",
		"events": "information_schema.events WHERE event_schema",
	} {
		rows, err := p.session.table(p.ctx, "SELECT COUNT(*) AS n FROM "+from+" NOT IN "+systemSchemas)
		if err != nil {
			return nil, nil, err
		}
		if n := rows[0]["n"]; n != "0" {
			without = append(without, what+" ("+n+")")
		}
	}
	slices.Sort(without)
	return statements, without, nil
}

// create returns the statements that make what a query names: in a database of its own each, if it names one.
func (p *portrait) create(what, names string) ([]string, error) {
	rows, err := p.session.table(p.ctx, names)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, row := range rows {
		name := admin.Name(row["a"])
		if row["b"] != "" {
			name += "." + admin.Name(row["b"])
		}
		shown, err := p.session.table(p.ctx, "SHOW CREATE "+what+" "+name)
		if engine.ClassOf(err) == engine.Denied {
			p.denied = append(p.denied, fmt.Sprintf("%s %s, which the account may not read", strings.ToLower(what), name))
			continue
		}
		if err != nil {
			return nil, err
		}
		text := shown[0]["Create "+strings.ToUpper(what[:1])+strings.ToLower(what[1:])]
		if what == "DATABASE" {
			text = strings.Replace(text, "CREATE DATABASE", "CREATE DATABASE IF NOT EXISTS", 1)
		} else {
			all = append(all, "USE "+admin.Name(row["a"]))
		}
		all = append(all, text)
	}
	return all, nil
}
