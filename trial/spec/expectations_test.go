package spec_test

import (
	"strings"
	"testing"

	"plimsoll/internal/document"
	"plimsoll/trial/expect"
)

// A variant that does not exist is called so, whether its name could be that of a phase or not.
func TestAVariantThatDoesNotExist(t *testing.T) {
	compiler := expect.Vocabulary{Variants: []string{"a", "binlog row"}, Phases: []string{"baseline", "measure"}}
	for text, want := range map[string]string{
		`throughput["c"] > 1`:           `unknown variant or phase "c", expected a, binlog row, baseline or measure`,
		`throughput["binlog rows"] > 1`: `did you mean "binlog row"`,
		`throughput.mesure > 1`:         `unknown variant or phase "mesure"`,
	} {
		if _, err := compiler.Compile(expect.Expectation{Text: text, At: &document.Node{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
