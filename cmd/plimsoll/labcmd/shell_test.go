package labcmd

import (
	"strings"
	"testing"
)

func TestAShellTellsNullFromAnEmptyText(t *testing.T) {
	var out strings.Builder
	rows := []map[string]string{{"a": "1", "b": "", "c": "x"}, {"a": "2", "c": "y"}}
	if err := printRows(&out, []string{"a", "b", "c"}, rows); err != nil {
		t.Fatal(err)
	}
	if want := "a  b     c\n1        x\n2  NULL  y\n"; out.String() != want {
		t.Errorf("printed:\n%s, expected:\n%s", out.String(), want)
	}
}
