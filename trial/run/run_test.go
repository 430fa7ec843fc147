package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/result"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/lab"
	"plimsoll/series"
)

// The tests here run whole trials on a real server, for a few seconds each.

const smallServer = "cluster: {engine: mariadb, config: {innodb_buffer_pool_size: 64M}}\n"

// options are for a trial on a real server, beside the trials of other tests: most of its time is waited.
func options(t *testing.T, watch progress.Observer) run.Options {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real server")
	}
	t.Parallel()
	return bareOptions(t, watch)
}

// quietOptions are for a trial on a real server before those of other tests, for one whose claims are of how fast the server is.
func quietOptions(t *testing.T) run.Options {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real server")
	}
	return bareOptions(t, nil)
}

// bareOptions are for what starts no server.
func bareOptions(t *testing.T, watch progress.Observer) run.Options {
	t.Helper()
	machine, err := catalog.Machine()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	deps := lab.Deps{
		Machine: machine, Launchers: catalog.Launchers(), Home: t.TempDir(), Cache: cache, Layer: []string{os.Args[0], "layer"},
	}
	t.Cleanup(func() {
		left, err := lab.List(context.WithoutCancel(t.Context()), deps)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return run.Options{
		Lab: deps, Dir: filepath.Join(t.TempDir(), "result"), Observer: watch,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Version: "test",
	}
}

func read(t *testing.T, text string) *spec.Trial {
	t.Helper()
	got, err := spec.Parse("trial.yaml", []byte(text), spec.Options{}, catalog.Parts())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAComparisonLeavesACompleteResult(t *testing.T) {
	s := options(t, nil)
	got, err := run.Run(t.Context(), read(t, `trial: small
question: Does a bigger table slow point selects?
`+smallServer+`load: {workload: oltp_read_write, table_size: 1000}
compare:
  connections: [2]
  variant:
    flush 1: {config: {innodb_flush_log_at_trx_commit: 1}}
    flush 2: {config: {innodb_flush_log_at_trx_commit: 2}}
phases: {warmup: 1s, measure: 3s, rounds: 2}
expect:
  - throughput["flush 2"] > 0.01 * throughput["flush 1"]
`), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	v := got.Verdict
	if len(v.Claims) != 1 || v.Claims[0].Estimate <= 0.01 || v.Partial || len(v.Cells) != 2 {
		t.Errorf("verdict %+v", v)
	}
	for _, c := range v.Cells {
		if c.Rounds != 2 || !c.Tally.Balanced() || c.Tally.Done == 0 {
			t.Errorf("cell %q: %d rounds, %+v", c.Name, c.Rounds, c.Tally)
		}
	}
	checkSettings(t, got)
	checkSeries(t, got)
	checkLatencyLog(t, got)
	checkPinnedKeys(t, got.Dir)
	if len(got.Signals) == 0 || !slices.ContainsFunc(got.Signals, func(p series.Point) bool { return p.Signal == "process.cpu_cores" }) {
		t.Error("no signals of the server's process")
	}
	same, err := judge.CompareResults(got, got)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range same.Differences {
		if d.Differs || d.Ratio.Estimate != 1 {
			t.Errorf("a result differs from itself: %+v", d)
		}
	}
}

func checkSettings(t *testing.T, r *result.Result) {
	t.Helper()
	shown := map[string]string{}
	for _, s := range r.Environment.Settings {
		if s.Name == "innodb_flush_log_at_trx_commit" {
			shown[s.Cell] = s.Shown
		}
	}
	if shown["flush 1, connections=2"] != "1" || shown["flush 2, connections=2"] != "2" {
		t.Errorf("settings as the server showed them: %v", shown)
	}
}

func checkSeries(t *testing.T, r *result.Result) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.Dir, "series.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	header, err := bufio.NewReader(f).ReadString('\n')
	const promised = "time,cell,phase,operation,scheduled,done,errors,late,skipped,response_p50_ms,"
	if err != nil || !strings.HasPrefix(header, promised) || !strings.Contains(header, ",service_p50_ms,") {
		t.Errorf("header %q, %v", header, err)
	}
	// By cell and round: seconds without a gap, one of which is longer if the machine stood still.
	measured, end := map[string]time.Duration{}, map[string]time.Time{}
	for _, row := range r.Seconds {
		if !row.Balanced() {
			t.Errorf("row at %v does not add up: %+v", row.Time, row.Tally)
		}
		if row.Phase != "measure" || row.Operation != "all" {
			continue
		}
		of := fmt.Sprint(row.Cell, row.Round)
		if before, begun := end[of]; begun && row.Time.Sub(before).Abs() > time.Millisecond {
			t.Errorf("a second begins at %v, the one before ended at %v", row.Time, before)
		}
		measured[of], end[of] = measured[of]+row.Length, row.Time.Add(row.Length)
	}
	if len(measured) != 2*2 {
		t.Errorf("%d cells and rounds were measured, want 4: %v", len(measured), measured)
	}
	for of, length := range measured {
		if length < 2500*time.Millisecond || length > 6*time.Second {
			t.Errorf("%s was measured for %v, want 3s to the nearest second", of, length)
		}
	}
}

func checkLatencyLog(t *testing.T, r *result.Result) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.Dir, "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var logged, done int64
	for entry, err := range series.ReadLatencyLog(f) {
		if err != nil {
			t.Fatal(err)
		}
		if parts := series.TagParts(entry.Tag); parts[2] == "measure" && parts[4] == "response" {
			logged += entry.Durations.Count()
		}
	}
	for _, c := range r.Verdict.Cells {
		done += c.Tally.Done
	}
	if logged != done {
		t.Errorf("%d response times logged, %d operations done", logged, done)
	}
}

// checkPinnedKeys holds verdict.json to what other programs rely on.
func checkPinnedKeys(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	claim := v["claims"].([]any)[0].(map[string]any)
	for _, key := range []string{"expect", "verdict", "estimate", "low", "high", "confidence", "margin", "needs"} {
		if _, has := claim[key]; !has {
			t.Errorf("a claim without %q", key)
		}
	}
	if _, is := v["verdict"].(string); !is || v["reasons"] == nil {
		t.Errorf("verdict %v, reasons %v", v["verdict"], v["reasons"])
	}
}

func TestATimelineDatesWhatIsDoneToTheServer(t *testing.T) {
	s := options(t, nil)
	got, err := run.Run(t.Context(), read(t, `trial: stall
`+smallServer+`load: {workload: oltp_point_select, table_size: 1000, rate: 200, arrivals: uniform, connections: 32}
timeline:
  - baseline: 8s
  - run: lab/freeze
    with: {for: 3s}
  - recovery: 4s
  - run: lab/kill
    with: {for: 3s}
  - recovery: 4s
phases: {warmup: 2s, rounds: 1}
expect:
  - max(response).during("lab/freeze") > 2s
  - errors.baseline == 0
  - errors.during("lab/kill") > 0
  - p50(response).baseline < 1s
`), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range got.Verdict.Claims[:3] {
		if claim.Verdict != analyze.Pass {
			t.Errorf("%s: %s, estimate %v", claim.Expect, claim.Verdict, claim.Estimate)
		}
	}
	var kinds []string
	for _, e := range got.Events {
		kinds = append(kinds, string(e.Kind))
	}
	for _, want := range []string{"node.freeze", "node.thaw", "node.kill", "load.lost", "node.serves", "load.reconnected", "load.errors"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no event %s in %v", want, kinds)
		}
	}
	var sum series.Tally
	for _, row := range got.Seconds {
		if row.Operation == "all" {
			sum = sum.Plus(row.Tally)
		}
	}
	if !sum.Balanced() || sum.Scheduled < 200*17 {
		t.Errorf("accounting: %+v", sum)
	}
	frozen := slices.IndexFunc(got.Verdict.Phases, func(p result.Phase) bool { return p.Name == "lab/freeze" })
	if frozen < 0 || got.Verdict.Phases[frozen].Impact == nil || got.Verdict.Phases[frozen].Impact.WorstSecond > 0.1 {
		t.Errorf("the freeze left no mark: %+v", got.Verdict.Phases)
	}
	checkDated(t, got, "lab/freeze", "node.freeze n1", "node.freeze")
}

// checkDated holds the date of the first dip of a phase, and what it is said to have begun with, against the event. A machine
// that was too busy to serve the baseline evenly tells nothing of it.
func checkDated(t *testing.T, r *result.Result, phase, during, kind string) {
	t.Helper()
	for _, row := range r.Seconds {
		if row.Phase == "baseline" && row.Operation == "all" && (row.Done < 180 || row.Done > 220) {
			t.Logf("the baseline was uneven (%d operations in a second for 200): the date is not looked at", row.Done)
			return
		}
	}
	var truth time.Time
	for _, e := range r.Events {
		if string(e.Kind) == kind && truth.IsZero() {
			truth = e.Time
		}
	}
	for _, p := range r.Verdict.Phases {
		if p.Name != phase {
			continue
		}
		if len(p.Dips) == 0 {
			t.Fatalf("%s: no dip was dated", phase)
		}
		if off := p.Dips[0].Onset.Sub(truth); off.Abs() > time.Second || p.Dips[0].During != during {
			t.Errorf("%s began %v off the truth and is put down to %q: %+v", phase, off, p.Dips[0].During, p.Dips[0])
		}
	}
}

// stopper cancels when a trial measures for the first time, and notes how the load generator fared in each phase.
type stopper struct {
	cancel context.CancelFunc
	fared  map[string]progress.Generator
}

func (s stopper) Observe(u progress.Update) {
	second, is := u.(progress.Second)
	if !is {
		return
	}
	s.fared[second.Phase] = second.Generator
	if second.Phase == "measure" {
		s.cancel()
	}
}

func TestAnInterruptedTrialKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	watch := stopper{cancel, map[string]progress.Generator{}}
	s := options(t, watch)
	began := time.Now()
	got, err := run.Run(ctx, read(t, `trial: interrupted
`+smallServer+`load: {workload: oltp_point_select, table_size: 1000}
phases: {warmup: 1s, measure: 10m, rounds: 1}
expect:
  - throughput > 1
`), catalog.Parts(), s)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an interruption", err)
	}
	if time.Since(began) > 5*time.Minute {
		t.Error("it was not stopped early")
	}
	if warmup, measure := watch.fared["warmup"], watch.fared["measure"]; warmup.Seconds < 1 || warmup.Judged || measure.Seconds < 1 || measure.Seconds > 2 || !measure.Judged || measure.Open || measure.CPUShare <= 0 {
		t.Errorf("the load generator in the warm-up: %+v, in what is measured: %+v", warmup, measure)
	}
	if got == nil || !got.Verdict.Partial || got.Verdict.Verdict == analyze.Pass || len(got.Seconds) == 0 {
		t.Fatalf("result %+v", got)
	}
	again, err := result.Open(s.Dir)
	if err != nil || !again.Verdict.Partial {
		t.Errorf("read back: %v", err)
	}
}

func TestAServerThatCannotStartIsSaidPlainly(t *testing.T) {
	s := options(t, nil)
	r, err := run.Run(t.Context(), read(t, `trial: broken
cluster: {engine: mariadb, config: {inodb_buffer_pool_size: 64M}}
load: {workload: oltp_point_select, table_size: 1000}
phases: {warmup: 1s, measure: 2s, rounds: 1}
`), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	saysThatNothingWasMeasured(t, r, "inodb_buffer_pool_size")
	if advice := strings.Join(r.Verdict.Advice, "\n"); !strings.Contains(advice, "did you mean innodb_buffer_pool_size?") {
		t.Errorf("advice: %q", advice)
	}
}

func TestSettingsAreChangedWithoutARestartWhereTheServerCan(t *testing.T) {
	s := options(t, nil)
	got, err := run.Run(t.Context(), read(t, `trial: dynamic
`+smallServer+`load: {workload: oltp_update_index, table_size: 1000}
compare:
  config.innodb_flush_log_at_trx_commit: [1, 2]
phases: {warmup: 1s, measure: 2s, rounds: 1, restore: never}
`), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, setting := range got.Environment.Settings {
		if setting.Name == "innodb_flush_log_at_trx_commit" {
			shown[setting.Shown] = true
		}
	}
	if !shown["1"] || !shown["2"] {
		t.Errorf("the server showed %v", shown)
	}
	for _, e := range got.Events {
		if e.Kind.Group() == series.OfServers {
			t.Errorf("the server was touched: %+v", e)
		}
	}
}

// What a trial could show is said before its first measurement, by what its load does here.
func TestTheNoiseOfALoadIsSaidBeforeItIsMeasured(t *testing.T) {
	s := options(t, nil)
	s.Noise = 5 * time.Second
	r, err := run.Run(t.Context(), readBeside(t, "", ""), catalog.Parts(), s)
	if err != nil {
		t.Fatal(err)
	}
	at := func(of func(series.Event) bool) int { return slices.IndexFunc(r.Events, of) }
	checked := at(func(e series.Event) bool { return e.Kind == series.NoiseChecked })
	measured := at(func(e series.Event) bool { return e.Kind == series.PhaseStart && e.Name == "baseline" })
	if checked < 0 || measured < checked {
		t.Fatalf("the noise was looked at by event %d, measured from event %d: %+v", checked, measured, r.Events)
	}
	if share, is := r.Events[checked].Detail["throughput_percent"].(float64); !is || share <= 0 {
		t.Errorf("the event says %v", r.Events[checked].Detail)
	}
	said := regexp.MustCompile(`^Judging by 5s of its load before the first measurement, this trial, with one round of 2s, can show a change in throughput of (over )?[×0-9.,]+( %)? or more, and in p99 of (over )?[×0-9.,]+( %)? or more;`)
	if !slices.ContainsFunc(r.Verdict.Notes, said.MatchString) {
		t.Errorf("the notes are %q", r.Verdict.Notes)
	}
}
