package mysql

import (
	"reflect"
	"strings"
	"testing"

	"plimsoll/engine"
)

func grantsOf(lines ...string) *grants {
	g := &grants{account: "'app'@'%'", at: map[string][]string{}, revoked: map[string][]string{}}
	for _, line := range lines {
		g.add(line)
	}
	return g
}

func TestGrantsAreReadWhereTheyHold(t *testing.T) {
	g := grantsOf(
		"GRANT PROCESS, SLAVE MONITOR ON *.* TO `app`@`%` IDENTIFIED BY PASSWORD '*AB ON CD'",
		"GRANT SELECT, INSERT (a, `ON x`) ON `shop`.* TO `app`@`%`",
		"GRANT SELECT ON `shop\\_eu`.* TO `app`@`%`",
		"GRANT UPDATE ON `app%`.* TO `app`@`%`",
		"GRANT `ops`@`%` TO `app`@`%`",
		"GRANT DELETE ON `shop`.`orders` TO `app`@`%`",
	)
	for _, c := range []struct {
		privilege, namespace string
		want                 bool
	}{
		{"PROCESS", "", true}, {"SLAVE MONITOR", "", true}, {"SUPER", "", false},
		{"SELECT", "shop", true}, {"INSERT", "shop", false}, {"SELECT", "shop_eu", true}, {"SELECT", "shopxeu", false},
		{"UPDATE", "app12", true}, {"UPDATE", "shop", false}, {"DELETE", "shop", false}, {"PROCESS", "shop", true},
	} {
		if got := g.has(c.privilege, c.namespace); got != c.want {
			t.Errorf("%s on %q: %v, want %v", c.privilege, c.namespace, got, c.want)
		}
	}
	all := grantsOf("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION", "REVOKE INSERT ON `mysql`.* FROM `root`@`localhost`")
	if !all.has("SUPER", "") || !all.has("INSERT", "shop") || all.has("INSERT", "mysql") {
		t.Errorf("all privileges but a revoked one: %v, revoked %v", all.at, all.revoked)
	}
}

func TestLacksNameTheGrantOfTheServer(t *testing.T) {
	needs := []engine.Need{
		{Right: engine.SwitchReadOnly, For: "step demote"}, {Right: engine.SeeSessions, For: "step demote"},
		{Right: engine.KeepClaim, For: "the lock"}, {Right: engine.SetVariable, Of: "sync_binlog", For: "step set"},
	}
	for version, want := range map[string][]string{
		"10.11.19-MariaDB": {"GRANT READ_ONLY ADMIN, PROCESS, BINLOG ADMIN ON *.* TO 'app'@'%'", "GRANT SELECT, INSERT, UPDATE, CREATE ON `plimsoll`.* TO 'app'@'%'"},
		"10.4.30-MariaDB":  {"GRANT SUPER, PROCESS ON *.* TO 'app'@'%'", "GRANT SELECT, INSERT, UPDATE, CREATE ON `plimsoll`.* TO 'app'@'%'"},
		"9.7.4":            {"GRANT SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN, PROCESS ON *.* TO 'app'@'%'", "GRANT SELECT, INSERT, UPDATE, CREATE ON `plimsoll`.* TO 'app'@'%'"},
		"5.7.44-log":       {"GRANT SUPER, PROCESS ON *.* TO 'app'@'%'", "GRANT SELECT, INSERT, UPDATE, CREATE ON `plimsoll`.* TO 'app'@'%'"},
	} {
		var got []string
		for _, lack := range grantsOf("GRANT USAGE ON *.* TO `app`@`%`").lacks(needs, privilegesOf(version)) {
			got = append(got, lack.Grant)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", version, got, want)
		}
	}
}

// A lab is made like a server as far as the account sees it: what it may not see is said.
func TestWhatAnAccountMayNotSeeOfASchemaIsSaid(t *testing.T) {
	g := grantsOf("GRANT SELECT ON `shop`.* TO `app`@`%`", "GRANT PROCESS ON *.* TO `app`@`%`")
	if hidden := g.hidden(); len(hidden) != 1 || !strings.Contains(hidden[0], "'app'@'%' may not see") || !strings.Contains(hidden[0], "GRANT SELECT, SHOW VIEW ON *.* TO 'app'@'%';") {
		t.Errorf("%q", hidden)
	}
	if hidden := grantsOf("GRANT ALL PRIVILEGES ON *.* TO `app`@`%`").hidden(); len(hidden) > 0 {
		t.Errorf("it sees all, and yet: %q", hidden)
	}
}

// A setting counts as given wherever somebody gave it: containers have theirs on the command line. The binary log is a setting, where its
// files lie is not.
func TestWhatSomebodyGaveAServer(t *testing.T) {
	for _, origin := range []string{"'CONFIG'", "'COMMAND-LINE'", "'SQL'"} {
		if !strings.Contains(given[0], origin) {
			t.Errorf("settings of origin %s are left out: %s", origin, given[0])
		}
	}
	for name, want := range map[string]bool{"log_bin": false, "log_bin_compress": false, "log_bin_basename": true, "log_bin_index": true, "server_id": true} {
		if got := isIdentity(name); got != want {
			t.Errorf("%s says who the server is: %v", name, got)
		}
	}
}
