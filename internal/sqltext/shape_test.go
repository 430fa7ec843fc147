package sqltext

import (
	"reflect"
	"testing"
)

func TestShapeOf(t *testing.T) {
	for sql, want := range map[string]Shape{
		"SELECT plan FROM users WHERE handle = 17":                        {Verb: "SELECT", Table: "users", Columns: []string{"plan"}, Equal: []string{"handle"}, Values: []string{"17"}},
		"select `u`.`plan`, name from `shop`.`users` where `a` = 'it''s'": {Verb: "SELECT", Table: "shop.users", Columns: []string{"plan", "name"}, Equal: []string{"a"}, Values: []string{"'it''s'"}},
		"SELECT * FROM t WHERE a = ? AND b > 3 AND c BETWEEN 1 AND 2 ORDER BY d DESC LIMIT 10": {
			Verb: "SELECT", Table: "t", Equal: []string{"a"}, Values: []string{"?"}, Range: []string{"b", "c"}, Order: []string{"d"},
		},
		"SELECT COUNT(*) FROM t WHERE a IN (1, 2)": {Verb: "SELECT", Table: "t", Equal: []string{"a"}, Values: []string{"?"}},
		"UPDATE t SET n = n + 1 WHERE id = -5":     {Verb: "UPDATE", Table: "t", Equal: []string{"id"}, Values: []string{"-5"}},
		"DELETE FROM t WHERE id = 0x1F /* gone */": {Verb: "DELETE", Table: "t", Equal: []string{"id"}, Values: []string{"0x1F"}},
		"SELECT c FROM t":                          {Verb: "SELECT", Table: "t", Columns: []string{"c"}},
	} {
		if got, ok := ShapeOf(sql); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v, want %+v", sql, got, ok, want)
		}
	}
	for _, sql := range []string{
		"SELECT a FROM t JOIN u ON t.id = u.id WHERE t.a = 1", "SELECT a FROM t WHERE a = 1 OR b = 2", "SELECT a FROM t WHERE a IN (SELECT 1)",
		"SELECT a FROM t WHERE a = b", "SELECT a FROM t WHERE lower(a) = 'x'", "INSERT INTO t VALUES (1)", "SELECT a FROM t GROUP BY a", "",
	} {
		if got, ok := ShapeOf(sql); ok {
			t.Errorf("%q is taken for %+v", sql, got)
		}
	}
}

func FuzzShapeOf(f *testing.F) {
	f.Add("SELECT a FROM t WHERE b = '")
	f.Fuzz(func(_ *testing.T, sql string) { ShapeOf(sql) })
}
