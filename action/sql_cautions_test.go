package action

import (
	"fmt"
	"strings"
	"testing"
)

func TestTablesThatStatementsNeed(t *testing.T) {
	for statements, want := range map[string]string{
		"ALTER TABLE shop.orders ADD x INT":                                "shop.orders",
		"USE shop; UPDATE orders SET a = 1; ALTER TABLE `items` ADD b INT": "shop.orders shop.items",
		"DELETE FROM shop.orders WHERE id < 9; INSERT IGNORE INTO shop.old SELECT 1; TRUNCATE shop.a; TRUNCATE TABLE shop.b; REPLACE INTO shop.c VALUES (1)": "shop.orders shop.old shop.a shop.b shop.c",
		"CREATE INDEX by_at ON shop.orders (at); DROP INDEX by_at ON shop.orders":                                                                            "shop.orders",
		"CREATE TABLE IF NOT EXISTS shop.new (id INT); INSERT INTO shop.new VALUES (1)":                                                                      "",
		"CREATE TEMPORARY TABLE shop.new (id INT); UPDATE shop.new SET id = 1":                                                                               "",
		"CALL shop.make(); ALTER TABLE shop.orders ADD x INT":                                                                                                "", // it may make it
		"RENAME TABLE shop.a TO shop.b; UPDATE shop.b SET x = 1":                                                                                             "",
		"ALTER TABLE shop.a RENAME TO shop.b; UPDATE shop.b SET x = 1":                                                                                       "",
		"ALTER TABLE IF EXISTS shop.orders ADD x INT":                                                                                                        "", // which is no error
		"DELETE FROM o USING shop.orders AS o JOIN shop.x":                                                                                                   "", // an alias
		"DELETE o FROM shop.orders AS o":                                                                                                                     "",
		`UPDATE "Shop"."Orders" SET a = 1`:                                                                                                                   "", // with or without case
		"SET SESSION lock_wait_timeout = 5; SELECT * FROM shop.nothing":                                                                                      "",
		"/* ALTER TABLE shop.x */ SELECT 1":                                                                                                                  "",
	} {
		e := execute{Statements: strings.Split(statements, "; ")}
		var got []string
		for _, one := range e.needed() {
			got = append(got, one.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s needs %q, expected %q", statements, got, want)
		}
	}
	for statements, want := range map[string]string{
		"CREATE TABLE shop.a (id INT); USE shop; CREATE TABLE b LIKE a": "[shop.a shop.b] true",
		"CALL shop.make()": "[] false", "CREATE TABLE \"A\" (id INT)": "[] false", "UPDATE shop.a SET x = 1": "[] true", "LOAD DATA INFILE 'x' INTO TABLE shop.a": "[] false",
	} {
		all, known := (&execute{Statements: strings.Split(statements, "; ")}).Makes()
		if got := fmt.Sprint(all, known); got != want {
			t.Errorf("%s makes %s, expected %s", statements, got, want)
		}
	}
}
