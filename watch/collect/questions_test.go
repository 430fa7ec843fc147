package collect

import (
	"fmt"
	"strings"
	"testing"
)

// A question is known by its digest as MySQL and MariaDB write it, also where that is cut, and others are not taken for one.
func TestAQuestionIsKnownByItsDigest(t *testing.T) {
	long := "SELECT first"
	for n := range 200 {
		long += fmt.Sprintf(", column_%d", n)
	}
	var q questions
	for _, text := range []string{
		"SELECT 1", "SHOW REPLICA STATUS", long, "SELECT TIMESTAMPDIFF(SECOND, t.trx_started, NOW()) FROM information_schema.INNODB_TRX t",
		"SHOW GLOBAL STATUS WHERE CAST(Variable_name AS BINARY) IN ('Uptime', 'Questions')",
		"SELECT COALESCE(SUM(a.SUM_TIMER_WAIT), 0) / 1000000000000 FROM performance_schema.statements a\nWHERE USER IS NOT NULL AND NAME <> \"x\"",
	} {
		q.note(text)
	}
	for digest, want := range map[string]bool{
		"SELECT TIMESTAMPDIFF ( SQL_TSI_SECOND , `t` . `trx_started` , NOW ( ) ) FROM `information_schema` . `INNODB_TRX` `t`": true,
		"SELECT ?": false, "SHOW REPLICA STATUS": false,
		"SHOW GLOBAL STATUS WHERE CAST ( `Variable_name` AS BINARY ) IN (...)":                                                                               true,
		"SHOW GLOBAL STATUS WHERE `Variable_name` IN (...)":                                                                                                  false,
		"SELECT `COALESCE` ( SUM ( `a` . `SUM_TIMER_WAIT` ) , ? ) / ? FROM `performance_schema` . `statements` `a` WHERE USER IS NOT NULL AND `NAME` != ?":   true,
		"SELECT COALESCE ( SUM ( `a` . `SUM_TIMER_WAIT` ) , ? ) / ? FROM `performance_schema` . `statements` `a` WHERE SYSTEM_USER IS NOT ? AND `NAME` <> ?": true,
		"SELECT `COALESCE` ( SUM ( `a` . `SUM_TIMER_WAIT` ) , ? ) / ?":                                                                                       false,
		strings.ReplaceAll(long, ",", " ,")[:1024]:                                                                                                           true,
		"SELECT `other`" + strings.ReplaceAll(long, ",", " ,")[:1024]:                                                                                        false,
	} {
		if got := q.has(digest); got != want {
			t.Errorf("%s: %v", digest, got)
		}
	}
}
