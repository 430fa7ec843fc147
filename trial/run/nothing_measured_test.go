package run_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/infra/local"
	"plimsoll/lab"
	"plimsoll/report"
	"plimsoll/result"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

// saysThatNothingWasMeasured reads the result of a trial that ended before its load, as another process would, and writes its report.
func saysThatNothingWasMeasured(t *testing.T, r *result.Result, why string) {
	t.Helper()
	if r == nil {
		t.Fatal("there is no result")
	}
	again, err := result.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	v := again.Verdict
	if all := strings.Join(v.Reasons, "\n"); !v.Partial || v.Ended == nil || !strings.Contains(all, "nothing was measured") || !strings.Contains(all, why) {
		t.Errorf("%s, ended %+v: %q", v.Verdict, v.Ended, v.Reasons)
	}
	if err := report.Write(r.Dir, again); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(r.Dir, "report.md"))
	if err != nil || !strings.Contains(string(page), "nothing was measured") {
		t.Errorf("report.md: %v\n%s", err, page)
	}
	var text strings.Builder
	if err := report.Text(&text, again, report.Terminal{}); err != nil || strings.Count(strings.ToLower(text.String()), "nothing was measured") != 1 {
		t.Errorf("%v\n%s", err, text.String())
	}
	listed, err := result.List(filepath.Dir(r.Dir))
	if err != nil || len(listed) != 1 || listed[0].Verdict != string(v.Verdict) {
		t.Errorf("%v %+v", err, listed)
	}
}

// siteAnywhere is where a trial runs that starts no server.
func optionsAnywhere(t *testing.T) run.Options {
	t.Helper()
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return run.Options{
		Lab: lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: home, Say: func(string) {}},
		Dir: filepath.Join(home, "results", "r"), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "test",
	}
}

const unreachable = `trial: nobody-there
cluster: {target: 'mysql://root@127.0.0.1:1/test'}
load: {workload: oltp_point_select, rate: 10}
phases: {warmup: 1s, measure: 2s}
expect: [errors == 0]
`

func TestATrialWhoseTargetIsNotThereSaysSo(t *testing.T) {
	tr, err := spec.Parse("trial.yaml", []byte(unreachable), spec.Options{}, catalog.Parts())
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Run(t.Context(), tr, catalog.Parts(), optionsAnywhere(t))
	if err == nil || !strings.Contains(err.Error(), "nothing listens at 127.0.0.1:1") {
		t.Errorf("%v", err)
	}
	saysThatNothingWasMeasured(t, r, "nothing listens at 127.0.0.1:1")
	if r.Verdict.Verdict != analyze.CouldNotRun {
		t.Errorf("%s", r.Verdict.Verdict)
	}
}

func TestATrialThatIsInterruptedBeforeItsLoadSaysSo(t *testing.T) {
	tr, err := spec.Parse("trial.yaml", []byte(unreachable), spec.Options{}, catalog.Parts())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := run.Run(ctx, tr, catalog.Parts(), optionsAnywhere(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	saysThatNothingWasMeasured(t, r, "it was interrupted")
	if r.Verdict.Verdict == analyze.Pass || r.Verdict.Ended.How != result.Interrupted {
		t.Errorf("%s %+v", r.Verdict.Verdict, r.Verdict.Ended)
	}
}
