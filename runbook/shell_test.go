package runbook

import (
	"strings"
	"testing"

	"plimsoll/action"
)

func TestAValueInSingleQuotesIsRefusedWithItsPlace(t *testing.T) {
	for run, want := range map[string]string{
		`echo '${{ inputs.n }}'`:              "in single quotes",
		`echo "it's ${{ inputs.n }}"`:         "",
		`echo \' ${{ inputs.n }}`:             "",
		"# don't\n      echo ${{ inputs.n }}": "",
		`echo '' ${{ inputs.n }}`:             "",
		`echo ${{  }}`:                        "contains no expression",
	} {
		_, err := Parse("r.yaml", []byte("runbook: test/quotes\ninputs: {n: {}}\nsteps:\n  - id: a\n    uses: command\n    with:\n     run: |\n      "+run+"\n"), action.Generic())
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "r.yaml:7:")) {
			t.Errorf("%s: %v, want %q", run, err, want)
		}
	}
}
