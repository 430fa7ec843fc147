package mysql_test

import (
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
)

// A portrait of what an account may read in part is of that part, says so, and does not end at a view that is closed to it.
func TestThePortraitOfWhatAnAccountMayRead(t *testing.T) {
	labtest.Each(t, func(t *testing.T, server labtest.Server) {
		do(t, server.Database, "CREATE DATABASE seen", "CREATE TABLE seen.t (id INT PRIMARY KEY)", "CREATE VIEW seen.v AS SELECT id FROM seen.t",
			"CREATE DATABASE unseen", "CREATE TABLE unseen.t (id INT PRIMARY KEY)",
			"CREATE USER looks@'%' IDENTIFIED BY 'x-looks'", "GRANT SELECT ON seen.* TO looks@'%'")
		target := server.Target
		target.User, target.Password, target.Namespace = "looks", "x-looks", ""
		statements, without, err := loginAs(t, server.Engine, target).(engine.Portrayed).Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(statements, ";\n"); !strings.Contains(all, "CREATE TABLE `t`") || strings.Contains(all, "unseen") {
			t.Errorf("the schema: %s", all)
		}
		said := strings.Join(without, "\n")
		for _, want := range []string{"view `seen`.`v`, which the account may not read", "account 'looks'@'%' may not see", "GRANT SELECT, SHOW VIEW ON *.* TO 'looks'@'%';"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q does not say %q", said, want)
			}
		}
	})
}
