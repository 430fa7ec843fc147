package admin

import "strings"

// RDS is MySQL as RDS runs it: its administrator may not set up replication by statements, but by procedures of the schema mysql, whose
// names and parameters differ between versions. What a server lets through and who may write are parameters of its group.
type RDS struct {
	MySQL

	procedures map[string][]string // the names of their parameters, in order
}

var _ Dialect = RDS{}

// RDSProcedures is a query for the procedures of RDS that the account may execute, with the names of their parameters in order.
const RDSProcedures = `SELECT r.routine_name AS name, COALESCE(p.parameter_name, '') AS parameter FROM information_schema.routines r
		LEFT JOIN information_schema.parameters p ON p.specific_schema = r.routine_schema AND p.specific_name = r.routine_name
		WHERE r.routine_schema = 'mysql' AND r.routine_name LIKE 'rds\_%' ORDER BY r.routine_name, p.ordinal_position`

// OnRDS is the dialect of a server that has these procedures. Without them it is no RDS, or not for this account.
func (d MySQL) OnRDS(procedures []map[string]string) Dialect {
	all := map[string][]string{}
	for _, row := range procedures {
		all[row["name"]] = append(all[row["name"]], strings.ToLower(row["parameter"]))
	}
	if len(all["rds_start_replication"]) == 0 {
		return d
	}
	return RDS{d, all}
}

// Lacks is the procedure that makes a channel and that the server does not have; "" if it has it.
func (d RDS) Lacks(channel string, byPlace bool) string {
	name := d.setter(channel, byPlace)
	if _, has := d.procedures[name]; has {
		return ""
	}
	return name
}

// setter is the procedure that makes a channel.
func (d RDS) setter(channel string, byPlace bool) string {
	if byPlace {
		return d.external("set", "", channel)
	}
	return d.external("set", "_with_auto_position", channel)
}

// external is the name of the procedure for a channel: RDS says source since 8.4, master before.
func (d RDS) external(verb, more, channel string) string {
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

// call writes a call with a value for each parameter, found by a part of its name.
func (d RDS) call(procedure string, values ...[2]string) string {
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

func (d RDS) Follow(channel string, source Source) string {
	encrypted := "0"
	if source.Encrypted {
		encrypted = "1"
	}
	return d.call(d.setter(channel, source.Place != (Place{})), // what is more special stands first
		[2]string{"password", Text(string(source.Password))}, [2]string{"user", Text(source.User)}, [2]string{"ssl", encrypted},
		[2]string{"channel", Text(channel)}, [2]string{"port", source.Port}, [2]string{"host", Text(source.Host)},
		[2]string{"file_location", source.Place.At}, [2]string{"pos", source.Place.At}, [2]string{"file", Text(source.Place.File)}, [2]string{"delay", "0"})
}

func (d RDS) plain(procedure, channel string) []string {
	return []string{d.call(procedure, [2]string{"channel", Text(channel)})}
}

func (d RDS) Start(channel string) []string {
	return d.plain(forChannel("rds_start_replication", channel), channel)
}

func (d RDS) Stop(channel string) []string {
	return d.plain(forChannel("rds_stop_replication", channel), channel)
}

func (d RDS) Forget(channel string) []string {
	return d.plain(d.external("reset", "", channel), channel)
}

// Filter is nothing: a filter is the parameter replicate-do-db of the server's group, which no statement sets.
func (RDS) Filter(string, []string) []string { return nil }

// RefusesBy is nothing: who may write is the parameter read_only of its group.
func (RDS) RefusesBy() []Variable { return nil }

// Unlogged keeps a statement with a secret out of the slow log; of the general log the administrator may not keep it out.
func (RDS) Unlogged(text string) []string {
	return []string{"SET SESSION long_query_time = 1000000", text, "SET SESSION long_query_time = DEFAULT"}
}

// BinlogRetention is a query for the hours for which RDS keeps binary logs.
const BinlogRetention = "SELECT value FROM mysql.rds_configuration WHERE name = 'binlog retention hours'"

// SetBinlogRetention has RDS keep binary logs so many hours; NULL is as long as it must.
func SetBinlogRetention(hours string) string {
	return "CALL mysql.rds_set_configuration('binlog retention hours', " + hours + ")"
}
