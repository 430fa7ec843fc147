package mysql

import (
	"reflect"
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
