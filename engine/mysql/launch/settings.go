package launch

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// settings are a server's variables by their names with underscores; nothing is an option without a value.
type settings map[string]string

const nothing = "\x00"

// reserved are settings that a lab makes itself, with the reason.
var reserved = map[string]string{
	"bind_address":      "the lab gives every node an address",
	"port":              "the port belongs to the cluster, not to its settings",
	"datadir":           "the lab keeps and restores the data folder",
	"socket":            "the lab sets it: it is in the node's folder",
	"pid_file":          "the lab sets it: it is in the node's folder",
	"log_error":         "the lab reads the log in the node's folder",
	"init_file":         "Plimsoll uses it to create the administrator",
	"user":              "servers run as the user of the lab",
	"server_id":         "Plimsoll sets it to the node's number",
	"skip_networking":   "the lab connects to servers over TCP",
	"skip_grant_tables": "the lab logs in with an account of its own",
}

// settingsOf is what a node runs with: what a lab needs, under what the user wrote.
func settingsOf(n engine.Node) (settings, error) {
	s := settings{
		"bind_address": n.Address,
		"port":         strconv.Itoa(n.Port),
		"datadir":      n.Data(),
		"tmpdir":       n.Temp(),
		// Relative to datadir, because the path of a socket is limited to about a hundred characters.
		"socket":             "../run/mysql.sock",
		"pid_file":           path.Join(n.Run(), "mysql.pid"),
		"init_file":          initFile(n),
		"server_id":          strconv.Itoa(n.Number),
		"report_host":        n.Address,
		"report_port":        strconv.Itoa(n.Port),
		"relay_log":          "relay", // not after the host, which may change
		"skip_name_resolve":  "ON",
		"max_connections":    "1000", // load may want more than the usual 151
		"local_infile":       "ON",   // to load data fast
		"performance_schema": "ON",   // to see where statements wait; MariaDB's default is off
	}
	if n.Dist.Product == mysqlProduct {
		maps.Copy(s, settings{
			"mysqlx": "OFF", "secure_file_priv": "", "gtid_mode": "ON", "enforce_gtid_consistency": "ON",
		})
	} else {
		s["ssl"] = "OFF" // since 11.4 every start makes a certificate, which takes seconds
	}
	for name, variable := range map[string]string{
		basePath: "basedir", messagesPath: "lc_messages_dir", charsetsPath: "character_sets_dir", pluginsPath: "plugin_dir",
	} {
		if at := n.Dist.Paths[name]; at != "" {
			s[variable] = at
		}
	}
	if n.Confined {
		s["innodb_use_native_aio"] = "OFF"
		// From 10.11.12 and 11.4.6 on MariaDB reserves addresses for a pool of 8 TiB; older servers do not know the setting.
		s["loose_innodb_buffer_pool_size_max"] = "1G"
	}
	if n.Size > 1 || n.Alone {
		s["log_bin"] = "ON"
	}
	switch {
	case n.Alone && n.Dist.Product != mysqlProduct:
		// What one server may replicate from several others: a domain of its own for each, and rows.
		s["gtid_domain_id"], s["binlog_format"] = strconv.Itoa(n.Number), "ROW"
	case n.Number > 1 && !n.Alone:
		s["read_only"] = "ON"
	}
	if n.Size > 1 && n.Dist.Product != mysqlProduct {
		s["log_slave_updates"] = "ON" // MySQL's default: a replica that is promoted can be followed
	}
	return s, s.override(n)
}

// override puts the user's settings over the lab's.
func (s settings) override(n engine.Node) error {
	written := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(n.Config)) {
		key, value := admin.VariableName(name), n.Config[name]
		if why, ok := reserved[key]; ok {
			return &engine.Reserved{Setting: name, Why: why}
		}
		if other, twice := written[key]; twice {
			return fmt.Errorf("settings %s and %s are the same", other, name)
		}
		if strings.ContainsAny(key+value, "\x00\n\r") || key == "" {
			return fmt.Errorf("setting %q: %q cannot be written in an option file", name, value)
		}
		written[key] = name
		s[key] = value
	}
	if n.Memory > 0 && written[poolSize] == "" {
		bytes := poolWithin(n)
		if bytes <= 0 {
			return hint.With(fmt.Errorf("%d MiB of memory are too little for a node", n.Memory>>20),
				fmt.Sprintf("the server itself needs %d MiB", aside(n.Dist.Product)>>20))
		}
		s[poolSize] = strconv.FormatInt(bytes, 10)
	}
	s.binaryLog()
	return nil
}

// binaryLog turns on and off into what servers understand: for them log_bin is the name of a file.
func (s settings) binaryLog() {
	value, set := s["log_bin"]
	if skip, ok := s["skip_log_bin"]; ok {
		value, set = map[bool]string{true: "ON", false: "OFF"}[admin.IsOff(skip)], true
		delete(s, "skip_log_bin")
	}
	if !set {
		return // the product's default
	}
	switch {
	case admin.IsOff(value):
		delete(s, "log_bin")
		s["skip_log_bin"] = nothing
	case admin.IsOn(value) || value == "":
		s["log_bin"] = "binlog"
	}
}

// render writes an option file.
func (s settings) render() []byte {
	var b bytes.Buffer
	b.WriteString("# Written by Plimsoll before every start of this node.\n[mysqld]\n")
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if s[name] == nothing {
			fmt.Fprintf(&b, "%s\n", name)
			continue
		}
		for _, value := range values(name, s[name]) {
			fmt.Fprintf(&b, "%s = %s\n", name, optionValue(value))
		}
	}
	return b.Bytes()
}

// values are those of an option that is written once for each: a filter of replication, of one channel or of all.
func values(name, value string) []string {
	_, plain, ofChannel := strings.Cut(name, ".") // MariaDB writes the connection before the option
	if !ofChannel {
		plain = name
	}
	if strings.HasPrefix(plain, "replicate_") {
		return strings.Split(value, ",")
	}
	return []string{value}
}

// optionValue quotes what an option file would read otherwise: # begins a comment, blanks at the ends are dropped, a
// backslash escapes.
func optionValue(v string) string {
	v = strings.ReplaceAll(v, `\`, `\\`)
	if v == "" || !strings.ContainsAny(v, `#;'" `+"\t") {
		return v
	}
	return `"` + strings.ReplaceAll(v, `"`, `\"`) + `"`
}
