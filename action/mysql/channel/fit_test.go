package channel

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// like is a profile that fits, changed: what cannot be had here, such as Aurora, has profiles too.
func like(node, id string, change func(*profile)) profile {
	p := profile{
		Node: node, Product: "MySQL", Version: "8.4.3", ID: id, UUID: "uuid-" + id, Binlog: true, Format: "ROW", GTID: "ON",
	}
	change(&p)
	return p
}

func mariadbLike(node, id string, change func(*profile)) profile {
	return like(node, id, func(p *profile) {
		p.Product, p.Version, p.UUID, p.Domain = "MariaDB", "10.11.8", "", id
		change(p)
	})
}

func same(*profile) {}

func gtidMode(mode string) func(*profile) { return func(p *profile) { p.GTID = mode } }

func TestWhatCannotReplicateIsRefused(t *testing.T) {
	source, replica := like("a", "1", same), like("b", "2", same)
	for name, c := range map[string]struct {
		source, replica profile
		byPlace         bool
		want            string // "": it fits
	}{
		"alike":               {source, replica, false, ""},
		"a newer replica":     {like("a", "1", func(p *profile) { p.Version = "8.0.40" }), replica, false, ""},
		"a later patch":       {like("a", "1", func(p *profile) { p.Version = "8.4.7" }), replica, false, ""},
		"an older replica":    {like("a", "1", func(p *profile) { p.Version = "9.7.4" }), replica, false, "must not be older"},
		"10 comes after 9":    {mariadbLike("a", "1", func(p *profile) { p.Version = "9.9.1" }), mariadbLike("b", "2", same), false, ""},
		"another product":     {mariadbLike("a", "1", same), replica, false, "GTIDs and binary logs differ"},
		"MariaDB from MySQL":  {source, mariadbLike("b", "2", same), false, "GTIDs and binary logs differ"},
		"Percona from MySQL":  {source, like("b", "2", func(p *profile) { p.Product = "Percona Server" }), false, ""},
		"from Aurora":         {like("a", "1", func(p *profile) { p.Product, p.Cloud = "Aurora MySQL", true }), replica, false, ""},
		"into RDS":            {source, like("b", "2", func(p *profile) { p.Cloud = true }), false, "by procedures"},
		"no binary log":       {like("a", "1", func(p *profile) { p.Binlog = false }), replica, false, "no binary log"},
		"the same server id":  {source, like("b", "1", func(p *profile) { p.UUID = "other" }), false, "same server_id 1"},
		"the same uuid":       {source, like("b", "2", func(p *profile) { p.UUID = "uuid-1" }), false, "same server_uuid"},
		"statements":          {like("a", "1", func(p *profile) { p.Format = "STATEMENT" }), replica, false, "binlog_format STATEMENT"},
		"mixed":               {mariadbLike("a", "1", func(p *profile) { p.Format = "MIXED" }), mariadbLike("b", "2", same), false, "binlog_format MIXED"},
		"source without GTID": {like("a", "1", func(p *profile) { p.GTID = "OFF" }), replica, false, "a (MySQL 8.4.3) has gtid_mode OFF"},
		"but with a place":    {like("a", "1", gtidMode("OFF")), like("b", "2", gtidMode("OFF_PERMISSIVE")), true, ""},
		"on the way to GTIDs": {like("a", "1", gtidMode("ON_PERMISSIVE")), replica, true, ""},
		"GTIDs on one side":   {like("a", "1", gtidMode("OFF")), replica, true, "a (MySQL 8.4.3) has gtid_mode OFF, and b (MySQL 8.4.3) has ON"},
		"and on the other":    {source, like("b", "2", gtidMode("OFF_PERMISSIVE")), true, "has OFF_PERMISSIVE: these do not replicate"},
		"replica no GTID":     {source, like("b", "2", func(p *profile) { p.GTID = "ON_PERMISSIVE" }), false, "b (MySQL 8.4.3) has gtid_mode"},
	} {
		refusal(t, name, fits(c.source, c.replica, c.byPlace), c.want)
	}
}

func TestSourcesThatDoNotFitTogetherAreRefused(t *testing.T) {
	two := func(change func(*profile), databases ...string) []supply {
		return []supply{{mariadbLike("a", "1", same), []string{"app1"}}, {mariadbLike("b", "2", change), databases}}
	}
	replica := mariadbLike("r", "9", same)
	for name, c := range map[string]struct {
		replica profile
		sources []supply
		want    string
	}{
		"alike":                {replica, two(same, "app2", "app3"), ""},
		"the same database":    {replica, two(same, "app2", "app1"), "a and b both have a database app1"},
		"a system's database":  {replica, two(same, "mysql"), "belongs to the server"},
		"Plimsoll's":           {replica, two(same, "plimsoll"), "belongs to the server"},
		"no database":          {replica, two(same), "no database of b"},
		"the same domain":      {replica, two(func(p *profile) { p.Domain = "1" }, "app2"), "a and b have the same gtid_domain_id 1"},
		"the replica's domain": {replica, two(func(p *profile) { p.Domain = "9" }, "app2"), "r and b have the same gtid_domain_id 9"},
		"the same server id":   {replica, two(func(p *profile) { p.ID = "1" }, "app2"), "a and b have the same server_id 1"},
		"one does not fit":     {replica, two(func(p *profile) { p.Binlog = false }, "app2"), "b (MariaDB 10.11.8) writes no binary log"},
		"MySQL has no domains": {like("r", "9", same), []supply{{like("a", "1", same), []string{"app1"}}, {like("b", "2", same), []string{"app2"}}}, ""},
		"Aurora": {like("r", "9", func(p *profile) { p.Product, p.Cloud = "Aurora MySQL", true }), []supply{{like("a", "1", same), []string{"app1"}}},
			"Aurora replicates from one"},
		"RDS":                    {like("r", "9", func(p *profile) { p.Cloud, p.Calls = true, true }), []supply{{like("a", "1", same), []string{"app1"}}}, ""},
		"RDS, without the right": {like("r", "9", func(p *profile) { p.Cloud = true }), []supply{{like("a", "1", same), []string{"app1"}}}, "by procedures, of which this account may execute none"},
		"super_read_only": {like("r", "9", func(p *profile) { p.ReadOnly = true }), []supply{{like("a", "1", same), []string{"app1"}}},
			"super_read_only"},
	} {
		refusal(t, name, fitTogether(c.replica, c.sources), c.want)
	}
}

func refusal(t *testing.T, name string, err error, want string) {
	t.Helper()
	var r *hint.PermanentError
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case want != "" && (!errors.As(err, &r) || !strings.Contains(err.Error(), want) || r.Advice == ""):
		t.Errorf("%s: %v, want a refusal with advice that says %q", name, err, want)
	}
}

// What is advised instead of Aurora must not be refused as if it could not be.
func TestAdviceAboutTheCloudAgrees(t *testing.T) {
	of := []supply{{like("a", "1", same), []string{"app1"}}}
	for name, want := range map[string]string{"Aurora MySQL": "rds/multi-source", "MySQL": "may execute mysql.rds_start_replication"} {
		err := fitTogether(like("r", "9", func(p *profile) { p.Product, p.Cloud = name, true }), of)
		var r *hint.PermanentError
		if !errors.As(err, &r) || !strings.Contains(r.Advice, want) {
			t.Errorf("%s: %v, want advice that says %q", name, err, want)
		}
	}
}

func TestVersionsBeforeChannelsAreRefused(t *testing.T) {
	for version, want := range map[string]string{"5.6.51": "too old", "5.7.44": "", "8.0.22": "", "9.7.4": ""} {
		err := hasChannels(engine.Facts{Product: "MySQL", Version: version})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("MySQL %s: %v, want %q", version, err, want)
		}
	}
}

func TestTheRecoveredPlaceIsFound(t *testing.T) {
	for said, want := range map[string]string{
		"x\n2026-11-21 19:14:06 0 [Note] InnoDB: Last binlog file './binlog.000001', position 301353\ny": "binlog.000001:301353",
		"InnoDB: Last MySQL binlog file position 0 5921, file name mysql-bin.000007\n":                   "mysql-bin.000007:5921",
		"Binlog position from crash recovery is mysql-bin-changelog.001102 70375984":                     "mysql-bin-changelog.001102:70375984",
		"ready for connections": "",
	} {
		if got := recoveredPlace(said).String(); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}

// A copy whose log ends before what its storage engine has begins where the engine stands: a transaction that it has must not come again.
func TestACopyBeginsWhereItsEngineStands(t *testing.T) {
	log := admin.Place{File: "binlog.000003", At: "98589"}
	for _, c := range []struct{ engine, want admin.Place }{
		{admin.Place{}, log},
		{admin.Place{File: "binlog.000003", At: "70000"}, log},
		{admin.Place{File: "binlog.000003", At: "99869"}, admin.Place{File: "binlog.000003", At: "99869"}},
		{admin.Place{File: "binlog.000004", At: "4"}, admin.Place{File: "binlog.000004", At: "4"}},
	} {
		if got := later(log, c.engine); got != c.want {
			t.Errorf("engine at %v: %v, want %v", c.engine, got, c.want)
		}
	}
}

func TestASpanOfACompositeKeyIsWrittenForItsIndex(t *testing.T) {
	text, args := span{above: []engine.Value{engine.Int(1), engine.Int(2)}, upTo: []engine.Value{engine.Int(3), engine.Int(4)}}.where([]string{"a", "b"})
	if want := "((`a` > ?) OR (`a` = ? AND `b` > ?)) AND ((`a` < ?) OR (`a` = ? AND `b` <= ?))"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if got := keyText(args); got != "1,1,2,3,3,4" {
		t.Errorf("arguments %s", got)
	}
}
