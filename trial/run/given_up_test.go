package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/singlestore/singlestoretest"
	"plimsoll/infra/local"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/trial/progress"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
	"plimsoll/trial/underway"
)

// claims are what runs leave in a cluster, in memory.
type claims struct {
	mu   sync.Mutex
	has  string // a run
	ever bool   // one had it
	mute bool   // it gives nothing back

	home    string // where trials keep which of them are under way
	unnoted string // a run that had the cluster before its trial had noted that
}

func (c *claims) Claim(ctx context.Context, claim action.Claim) error {
	trials, err := underway.List(ctx, local.Machine{}, c.home)
	c.mu.Lock()
	defer c.mu.Unlock()
	if looks := claim.Run == "look"; !looks && (err != nil || !slices.ContainsFunc(trials, func(t underway.Trial) bool { return slices.Contains(t.Runs, claim.Run) })) {
		c.unnoted = claim.Run
	}
	c.has, c.ever = claim.Run, true
	return nil
}

func (c *claims) Clear(context.Context, action.Claim) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mute {
		return errors.New("it does not answer")
	}
	c.has = ""
	return nil
}

// onStep is done when a step of a run begins.
type onStep func()

func (f onStep) Observe(u progress.Update) {
	if u, is := u.(progress.Happened); is && u.Kind == "step.start" {
		f()
	}
}

// A cluster that was there before the trial is given back whatever becomes of the run on it, and the evidence of the run is whole.
func TestARunOnATargetIsGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes fifteen seconds")
	}
	t.Parallel()
	const fails, lasts = `run: "exit 1", effect: none`, `run: "sleep 1000", effect: none, interruptible: true`
	for _, c := range []struct {
		name, with, limit string
		mute, interrupt   bool
		says              string
	}{
		{name: "it failed", with: fails, limit: "5m", says: "The run of test/change was abandoned."},
		{name: "it lasts", with: lasts, limit: "3s", says: "The run of test/change was abandoned."},
		{name: "a person interrupts", with: lasts, limit: "5m", interrupt: true, says: "The run of test/change was abandoned."},
		{name: "the cluster does not answer", with: fails, limit: "5m", mute: true, says: "it does not answer. plimsoll trial run FOLDER/trial.yaml --break-lock REASON takes over the lock."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			standIn := singlestoretest.New(t, singlestoretest.Spec{Leaves: 1, Partitions: 2})
			folder := t.TempDir()
			for file, text := range map[string]string{
				"look.yaml":   "workload: look\noperations:\n  look: {with: {id: uniform 1..9}, run: 'SELECT value FROM t WHERE id = :id'}\n",
				"change.yaml": "runbook: test/change\nlock: cluster\nsteps: [{id: a, uses: command, with: {" + c.with + "}}]\n",
			} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			parts := withStandIn(t, standIn)
			s := bareOptions(t, nil)
			claimed := &claims{mute: c.mute, home: s.Lab.Home}
			parts.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return claimed }
			tr, err := spec.Parse(filepath.Join(folder, "trial.yaml"), []byte(`trial: given-up
cluster: {target: stand-in}
load: {workload: ./look.yaml, rate: 20, connections: 2, timeout: 50s}
timeline: [{baseline: 1s}, {run: ./change.yaml, limit: `+c.limit+`}]
phases: {warmup: 1s, rounds: 1}
`), spec.Options{}, parts)
			if err != nil {
				t.Fatal(err)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if c.interrupt {
				s.Observer = onStep(interrupt)
			}
			result, err := run.Run(ctx, tr, parts, s)
			if result == nil || c.interrupt != errors.Is(err, context.Canceled) || !c.interrupt && err != nil {
				t.Fatalf("%v, %v", result, err)
			}
			if notes := strings.Join(result.Verdict.Notes, "\n"); !strings.Contains(notes, strings.ReplaceAll(c.says, "FOLDER", folder)) {
				t.Errorf("notes %s, want %q", notes, c.says)
			}
			if claimed.unnoted != "" {
				t.Errorf("were its process killed now, run %s would not be known as that of a dead one", claimed.unnoted)
			}
			if !claimed.ever || c.mute != (claimed.has != "") {
				t.Errorf("it was claimed: %v, and is by %q", claimed.ever, claimed.has)
			}
			files, err := filepath.Glob(filepath.Join(s.Dir, "runs", "change-*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("evidence %v, %v", files, err)
			}
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if proof, err := journal.VerifyEvidence(data); err != nil || proof.Outcome != journal.RunCancelled {
				t.Errorf("evidence of a run that is %q, %v", proof.Outcome, err)
			}
		})
	}
}
