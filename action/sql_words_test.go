package action

import "testing"

func TestAlteredNamesTheTable(t *testing.T) {
	for text, want := range map[string]Table{
		"ALTER TABLE shop.orders ADD COLUMN a INT":              {"shop", "orders"},
		"/* x */ alter online table if exists `a b`.`c` DROP d": {"a b", "c"},
		"ALTER TABLE orders ENGINE=InnoDB":                      {"", "orders"},
		"CREATE UNIQUE INDEX by_at ON shop.orders (at)":         {"shop", "orders"},
		"DROP INDEX by_at ON `shop`.orders":                     {"shop", "orders"},
	} {
		if got, found := Altered(text); !found || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, found, want)
		}
	}
	for _, text := range []string{"UPDATE shop.t SET a = 1", "CREATE TABLE t (on_ INT)", "SET GLOBAL x = 1", "ALTER", ""} {
		if got, found := Altered(text); found {
			t.Errorf("%q alters %v", text, got)
		}
	}
}
