package run_test

import (
	"strings"
	"testing"

	"plimsoll/catalog"
	"plimsoll/engine/mysql"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
	"plimsoll/trial/foresee"
	"plimsoll/trial/spec"
)

// TestAClusterIsAskedBeforeTheLoad asks a real server what only it knows: nothing of the trial is run.
func TestAClusterIsAskedBeforeTheLoad(t *testing.T) {
	t.Parallel()
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	cluster := labtest.Cluster(t, lab.Spec{Name: "asked", Product: "mariadb", Nodes: 1, Config: map[string]string{"innodb_buffer_pool_size": "32M"}})
	on := lab.AsCluster(cluster, mysql.Engine{}, machine)
	t.Cleanup(func() { _ = on.Close() })
	read := func(config, expect string) *spec.Trial {
		text := "trial: t\ncluster: {engine: mariadb, config: " + config + "}\nload: {workload: oltp_point_select}\nexpect: [" + expect + "]\n"
		tr, err := spec.Parse("trial.yaml", []byte(text), spec.Options{}, catalog.Parts())
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	for _, c := range []struct {
		config, expect, want string
		must                 bool
	}{
		{"{max_connections: 200}", "errors == 0", "", false},
		{"{max_conections: 200}", "errors == 0", "setting max_conections: this server has no variable max_conections, but max_connections", true},
		{"{binlog_format: weird}", "errors == 0", "setting binlog_format: binlog_format cannot be weird: valid is one of", true},
		{"{innodb_flush_log_at_trx_commit: true}", "errors == 0", "setting innodb_flush_log_at_trx_commit: innodb_flush_log_at_trx_commit cannot be true: valid is a whole number from 0 to 3", true},
		{"{max_connections: 10000000}", "errors == 0", "setting max_connections: max_connections cannot be 10000000: valid is a whole number from 10 to 100000", true},
		{"{max_allowed_packet: 100000000}", "errors == 0", "setting max_allowed_packet: the server rounds max_allowed_packet = 100000000 and would run with 99999744", false},
		{"{}", `'highest("mysql.threads_running") < 1000'`, "", false},
		{"{}", `'highest("mysql.replica_lag_seconds") < 5'`, "signal mysql.replica_lag_seconds: this server does not show it now", false},
	} {
		found, err := foresee.Foresee(t.Context(), read(c.config, c.expect), catalog.Parts(), on, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.HasPrefix(found[0].String(), c.want) || found[0].Must != c.must) {
			t.Errorf("%s %s: %+v, want %q", c.config, c.expect, found, c.want)
		}
	}
}
