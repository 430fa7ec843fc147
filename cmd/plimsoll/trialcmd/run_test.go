package trialcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/report/reporttest"
	"plimsoll/result"
	"plimsoll/trial/spec"
)

// Where nothing could be written, no report is named.
func TestOnlyAReportThatIsThereIsNamed(t *testing.T) {
	result := reporttest.Timeline()
	result.Dir = t.TempDir()
	page := filepath.Join(result.Dir, reportPage)
	for _, there := range []bool{false, true} {
		var out bytes.Buffer
		if err := showRun(console.Streams{Out: &out}, result, "trial.yaml", RunOptions{}); err != nil {
			t.Fatal(err)
		}
		if named := strings.Contains(out.String(), "Report:   "+page+"\n"); named != there {
			t.Errorf("the report is there: %v, named: %v", there, named)
		}
		if err := os.WriteFile(page, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Where the cause must be fixed first, a longer trial is no advice.
func TestWhatComesNextFollowsFromTheVerdict(t *testing.T) {
	shown := reporttest.Timeline()
	shown.Dir = "results/a trial"
	o := RunOptions{Options: spec.Options{Quick: true, Set: []string{"load.rate=10"}}}
	const again, longer = "plimsoll trial run trial.yaml --quick --set load.rate=10, once the cause is fixed", "plimsoll trial run trial.yaml --set load.rate=10, for a more certain answer"
	for verdict, want := range map[analyze.Answer][]string{
		analyze.CouldNotRun: {again},
		analyze.Invalid:     {"plimsoll trial show 'results/a trial'", again},
		analyze.Fail:        {"plimsoll trial show 'results/a trial'", longer, "plimsoll trial compare 'results/a trial' ANOTHER, for two results side by side"},
	} {
		shown.Verdict.Verdict = verdict
		if got := next(shown, "trial.yaml", o); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
	shown.Verdict.Ended = &result.Ended{How: result.Interrupted}
	if got := next(shown, "trial.yaml", o); len(got) != 2 || got[0] != "plimsoll trial run trial.yaml --quick --set load.rate=10, which begins anew" {
		t.Errorf("after Ctrl-C: %q", got)
	}
}
