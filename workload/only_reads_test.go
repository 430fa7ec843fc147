package workload

import "testing"

func TestOnlyReads(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT c FROM t WHERE id = ?":                       true,
		"(select 1) UNION (SELECT 2)":                        true,
		"SELECT c FROM t\nWHERE id = ? FOR\n UPDATE":         false,
		"SELECT c FROM t WHERE id = ? LOCK IN SHARE MODE":    false,
		"(SELECT c FROM t FOR UPDATE);":                      false,
		"SELECT c FROM t FOR/**/UPDATE":                      false,
		"SELECT NEXT VALUE FOR s":                            false,
		"SELECT update_time, blocked FROM t":                 true,
		"SELECT c FROM t FOR SHARE SKIP LOCKED":              false,
		"SELECT c INTO @a FROM t":                            false,
		"WITH x AS (SELECT 1) DELETE FROM t WHERE id IN (1)": false,
		"UPDATE t SET c = 1":                                 false,
		"":                                                   false,
	} {
		if got := OnlyReads(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if OnlyReads() || OnlyReads("SELECT 1", "DELETE FROM t") {
		t.Error("nothing, or a write among reads, only reads")
	}
}
