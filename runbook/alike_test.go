package runbook

import (
	"strings"
	"testing"

	"plimsoll/action"
)

// Who approves a plan sees why a rehearsal with another value counts: without a reason there is nothing to see. A run that there is stays
// readable.
func TestValuesThatCountForOthersHaveAReason(t *testing.T) {
	const text = "runbook: own/change\ninputs:\n  size: {rehearse: REHEARSE}\nsteps:\n  - {id: go, uses: command, with: {run: 'true'}}\n"
	for rehearse, want := range map[string]string{
		"any":                                   `rehearse has no reason, expected {any: REASON}`,
		`{any: " "}`:                            `rehearse has no reason, expected {any: REASON}`,
		"{from: 64M, to: 1G}":                   `t.yaml:3:21: rehearse has no reason, expected {from: 64M, to: 1G, why: REASON}`,
		`{from: 64M, to: 1G, why: ""}`:          `rehearse has no reason`,
		"{any: it is a comment}":                "",
		"{from: 1G, to: 64M, why: it is alike}": `the first is the larger one, expected {from: 64M, to: 1G, why: REASON}`,
		"place":                                 "",
		"{from: 64M, to: 1G, why: it is alike}": "",
	} {
		written := []byte(strings.Replace(text, "REHEARSE", rehearse, 1))
		_, err := Parse("t.yaml", written, action.Generic())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", rehearse, err, want)
		}
		if b, err := ParseStored("t.yaml", written, action.Generic()); !strings.Contains(want, "the first is") && (err != nil || b.Unfit != nil) {
			t.Errorf("a run with %s cannot go on: %v", rehearse, err)
		}
	}
}
