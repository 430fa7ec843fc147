package custom

import (
	"strings"
	"testing"

	"plimsoll/internal/document"
)

func TestBind(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE id = :id":                 "SELECT a FROM t WHERE id = ?|id",
		"UPDATE t SET n = :n WHERE id = :id AND m < :n;": "UPDATE t SET n = ? WHERE id = ? AND m < ?|n id n",
		"VALUES (:a,:b2,:_c)":                            "VALUES (?,?,?)|a b2 _c",
		"SELECT ':x', \":y\", `:z` FROM t":               "SELECT ':x', \":y\", `:z` FROM t|",
		"SELECT 'it''s :x', 'a\\':b', :c":                "SELECT 'it''s :x', 'a\\':b', ?|c",
		"SELECT 1 -- :x?\n, :y":                          "SELECT 1 -- :x?\n, ?|y",
		"SELECT 1 # :x?\n, :y":                           "SELECT 1 # :x?\n, ?|y",
		"SELECT /* :x? */ :y":                            "SELECT /* :x? */ ?|y",
		"SELECT :a::int, @n := @n + :b":                  "SELECT ?::int, @n := @n + ?|a b",
		"SELECT '10:30', a[1:2], : x":                    "SELECT '10:30', a[1:2], : x|",
		"SELECT 'open :x":                                "SELECT 'open :x|",
	} {
		got, names, err := bind(&document.Node{Kind: document.Scalar, Text: text})
		if err != nil || got+"|"+strings.Join(names, " ") != want {
			t.Errorf("%s: %s|%s, %v; expected %s", text, got, strings.Join(names, " "), err, want)
		}
	}
}
