package channel

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// rds is MySQL as RDS runs it: its administrator may not set up replication by statements, but by procedures of the schema mysql, whose
// names and parameters differ between versions. What a server lets through and who may write are parameters of its group.
type rds struct {
	mysql

	procedures map[string][]string // the names of their parameters, in order
}

var _ dialect = rds{}

// onRDS looks for the procedures of RDS that the account may execute; none: it is no RDS, or not for this account.
func (s *server) onRDS(ctx context.Context) (map[string][]string, error) {
	rows, err := s.rows(ctx, `SELECT r.routine_name AS name, COALESCE(p.parameter_name, '') AS parameter FROM information_schema.routines r
		LEFT JOIN information_schema.parameters p ON p.specific_schema = r.routine_schema AND p.specific_name = r.routine_name
		WHERE r.routine_schema = 'mysql' AND r.routine_name LIKE 'rds\_%' ORDER BY r.routine_name, p.ordinal_position`)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, row := range rows {
		all[row["name"]] = append(all[row["name"]], strings.ToLower(row["parameter"]))
	}
	if len(all["rds_start_replication"]) == 0 {
		return nil, nil //nolint:nilnil // no RDS is no error
	}
	return all, nil
}

// external is the name of the procedure for a channel: RDS says source since 8.4, master before.
func (d rds) external(verb, more, channel string) string {
	word := "source"
	if _, new := d.procedures["rds_"+verb+"_external_source"]; !new {
		word = "master"
	}
	return forChannel("rds_"+verb+"_external_"+word+more, channel)
}

func forChannel(procedure, channel string) string {
	if channel == "" {
		return procedure
	}
	return procedure + "_for_channel"
}

// setter is the procedure that makes a channel.
func (d rds) setter(channel string, byPlace bool) string {
	if byPlace {
		return d.external("set", "", channel)
	}
	return d.external("set", "_with_auto_position", channel)
}

// can refuses a channel for which the server has no procedure.
func (d rds) can(node, channel string, byPlace bool) error {
	name := d.setter(channel, byPlace)
	if _, has := d.procedures[name]; has {
		return nil
	}
	advice := "update the server: RDS for MySQL has it from 8.0.35 on, and in 5.7.44"
	if !byPlace {
		advice = "name the place in the source's binary log as FILE:POS"
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s is on RDS and has no procedure mysql.%s that this account may call", node, name), Advice: advice}
}

// call writes a call with a value for each parameter, found by a part of its name.
func (d rds) call(procedure string, values ...[2]string) string {
	var all []string
	for _, parameter := range d.procedures[procedure] {
		value := "NULL"
		for _, v := range values {
			if strings.Contains(parameter, v[0]) {
				value = v[1]
				break
			}
		}
		if parameter != "" {
			all = append(all, value)
		}
	}
	return "CALL mysql." + procedure + "(" + strings.Join(all, ", ") + ")"
}

func (d rds) source(channel string, of origin) string {
	encrypted := "0"
	if of.encrypted {
		encrypted = "1"
	}
	return d.call(d.setter(channel, of.place != (place{})), // what is more special stands first
		[2]string{"password", admin.Text(string(of.password))}, [2]string{"user", admin.Text(of.user)}, [2]string{"ssl", encrypted},
		[2]string{"channel", admin.Text(channel)}, [2]string{"port", of.port}, [2]string{"host", admin.Text(of.host)},
		[2]string{"file_location", of.place.At}, [2]string{"pos", of.place.At}, [2]string{"file", admin.Text(of.place.File)}, [2]string{"delay", "0"})
}

func (d rds) plain(procedure, channel string) []string {
	return []string{d.call(procedure, [2]string{"channel", admin.Text(channel)})}
}

func (d rds) start(channel string) []string {
	return d.plain(forChannel("rds_start_replication", channel), channel)
}

func (d rds) stop(channel string) []string {
	return d.plain(forChannel("rds_stop_replication", channel), channel)
}

func (d rds) forget(channel string) []string {
	return d.plain(d.external("reset", "", channel), channel)
}

// filter: a filter is the parameter replicate-do-db of the server's group, which no statement sets.
func (rds) filter(string, []string) []string { return nil }

// still and writable: who may write is the parameter read_only of its group.
func (rds) still() []string    { return nil }
func (rds) writable() []string { return nil }

// unlogged has the server keep a statement with a secret out of its logs as far as the account may: not out of the general log.
func (s *server) unlogged(ctx context.Context, text string) ([]string, error) {
	if _, is := s.dialect.(rds); !is {
		return admin.Unlogged(text), nil
	}
	if general, err := s.variable(ctx, "general_log"); err != nil {
		return nil, err
	} else if general != "OFF" && general != "0" {
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("%s writes a general log, which would hold the password that replication logs in with: RDS takes it as a value of a call", s.name),
			Advice: "set its parameter general_log to 0 while this is done: rds/set-parameter",
		}
	}
	return []string{"SET SESSION long_query_time = 1000000", text, "SET SESSION long_query_time = DEFAULT"}, nil
}

// givesOnly refuses a source that has more databases than a channel of RDS is to let through.
func (s *server) givesOnly(ctx context.Context, databases []string) error {
	there, err := s.databases(ctx)
	if err != nil {
		return err
	}
	wanted := map[string]bool{seedDatabase: true}
	for _, d := range append(systemDatabases, databases...) {
		wanted[d] = true
	}
	for _, d := range there {
		if !wanted[d] {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s has a database %s too, and a channel of RDS lets all through that no parameter filters", s.name, d),
				Advice: "name all of its databases, or follow it with a server of your own",
			}
		}
	}
	return nil
}
