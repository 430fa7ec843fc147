package result

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/analyze"
)

// What pages call NOT JUDGED is marked beside its verdict, which stays INCONCLUSIVE for those who read the file; in the files of earlier releases too.
func TestAClaimOfATrialThatCouldNotRunIsMarked(t *testing.T) {
	unmeasured := analyze.JudgedClaim{Verdict: analyze.Inconclusive, Confidence: 1, Estimate: math.NaN()}
	measured := analyze.JudgedClaim{Verdict: analyze.Inconclusive, Confidence: 0.99, Estimate: 1.1}
	failed := analyze.JudgedClaim{Verdict: analyze.Fail, Confidence: 1, Estimate: 3}
	for answer, want := range map[analyze.Answer]bool{analyze.CouldNotRun: true, analyze.Inconclusive: false, analyze.Invalid: false} {
		v := Verdict{Verdict: answer, Claims: []analyze.JudgedClaim{unmeasured, measured, failed}}
		v.MarkNotJudged()
		if v.Claims[0].NotJudged != want || v.Claims[1].NotJudged || v.Claims[2].NotJudged || v.Claims[0].Verdict != analyze.Inconclusive {
			t.Errorf("%s: %+v", answer, v.Claims)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		SpecFile: "trial: t\n", EventsFile: "", VerdictFile: `{"verdict":"COULD NOT RUN","claims":[{"expect":"errors == 0","verdict":"INCONCLUSIVE","estimate":null,"low":null,"high":null,"confidence":1}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Verdict.Claims) != 1 || !r.Verdict.Claims[0].NotJudged {
		t.Errorf("an earlier release's: %+v", r.Verdict.Claims)
	}
}
