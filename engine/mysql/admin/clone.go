package admin

import (
	"fmt"

	"plimsoll/engine"
)

// MySQL's clone plugin: https://dev.mysql.com/doc/refman/en/clone-plugin.html.
const (
	ClonePluginStatus  = "SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = 'clone'" // ACTIVE
	InstallClonePlugin = "INSTALL PLUGIN clone SONAME 'mysql_clone.so'"
	CloneState         = "SELECT state FROM performance_schema.clone_status"
	CloneStateAndDonor = "SELECT state, source FROM performance_schema.clone_status"
	CloneProgress      = "SELECT SUM(data), SUM(estimate), MAX(IF(state = 'In Progress', stage, '')) FROM performance_schema.clone_progress"
)

// CloneFrom replaces all data of a server by those of a donor, where the user logs in.
func CloneFrom(host, port, user string, password engine.Secret, encrypted bool) []string {
	encryption := "REQUIRE NO SSL"
	if encrypted {
		encryption = "REQUIRE SSL"
	}
	return []string{
		SetGlobal("clone_valid_donor_list", Text(host+":"+port)),
		fmt.Sprintf("CLONE INSTANCE FROM %s@%s:%s IDENTIFIED BY %s %s", Text(user), Text(host), port, Text(string(password)), encryption),
	}
}
