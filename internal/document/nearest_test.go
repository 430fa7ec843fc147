package document

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"a", "b", "text", "integer", "boolean", "cluster", "clusters", "mariadb", "orders-primary", "orders-replica"}
	for wrote, want := range map[string]string{
		"int": "integer", "intger": "integer", "Bool": "boolean", "clu": "", "clustr": "cluster", "te": "", "xyz": "", "c": "", "": "",
		"marai": "mariadb", "maira": "mariadb", "mxyia": "", "mari": "mariadb", "oders": "", "oders-p": "orders-primary", "intgr": "integer",
	} {
		if got := Nearest(wrote, known); got != want {
			t.Errorf("%q: %q, want %q", wrote, got, want)
		}
	}
}
