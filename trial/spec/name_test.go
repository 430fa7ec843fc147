package spec

import (
	"strings"
	"testing"
)

func TestNamesOfTrials(t *testing.T) {
	for name, valid := range map[string]bool{
		"binlog-cost": true, "Änderung 3.1_b": true, "측정": true, "7": true, strings.Repeat("x", 80): true, strings.Repeat("측", 80): true,
		"": false, " a": false, ".hidden": false, "a/b": false, "a\nb": false, "a\xff": false, strings.Repeat("x", 81): false, strings.Repeat("측", 81): false,
	} {
		if validName(name) != valid {
			t.Errorf("%q: valid is %v", name, !valid)
		}
	}
}
