package document

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"text", "integer", "boolean", "cluster", "clusters"}
	for wrote, want := range map[string]string{
		"int": "integer", "intger": "integer", "Bool": "boolean", "clu": "", "clustr": "cluster", "te": "", "xyz": "",
	} {
		if got := Nearest(wrote, known); got != want {
			t.Errorf("%q: %q, want %q", wrote, got, want)
		}
	}
}
