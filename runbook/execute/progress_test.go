package execute

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

func TestAnActThatSaysHowFarItIsIsTimedByItsOwnPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := &job{}
		long.progress.share, long.progress.began = -1, time.Now()
		r := &runner{
			state: &journal.State{Items: []*journal.Step{
				{Key: "join", Step: &runbook.Step{ID: "join", Uses: "cql.join"}}, {Key: "cleanup", Step: &runbook.Step{ID: "cleanup", Uses: "cql.cleanup"}},
			}},
			learned: learned{"join": 60, "cleanup": 10}, jobs: map[string]*job{"join": long},
		}
		time.Sleep(time.Minute) // it starts
		if s := r.summary(); s.Left > 20*time.Second {
			t.Errorf("nothing is known but earlier runs: %v left", s.Left)
		}
		long.progress.tell(0, "it begins")
		time.Sleep(time.Minute)
		long.progress.tell(0.01, "it streams")
		time.Sleep(time.Hour)
		long.progress.tell(0.02, "it streams")
		if s := r.summary(); s.Left > 2*time.Minute {
			t.Errorf("a hundredth is no pace: %v left", s.Left)
		}
		time.Sleep(4 * time.Hour)
		long.progress.tell(0.11, "it streams")
		// Ten hundredths took 5 h, so 89 take 44.5 h; then the cleanup.
		if s := r.summary(); s.Left.Round(time.Minute) != 44*time.Hour+30*time.Minute || s.Share < 0.09 || s.Share > 0.11 || s.LeftBy != journal.ByEarlierRuns {
			t.Errorf("by its pace: %v left, by %s, %.3f done", s.Left, s.LeftBy, s.Share)
		}
		long.progress.tell(0.05, "a stream was found that was not known")
		if share, _ := long.progress.now(); share != 0.11 {
			t.Errorf("it went back to %.2f", share)
		}
		r.learned = nil
		if s := r.summary(); s.Left != 0 || s.LeftBy != "" {
			t.Errorf("nothing is known of the cleanup: %v left, by %q", s.Left, s.LeftBy)
		}
		r.state.Items[1].Phase = journal.StepDone
		if s := r.summary(); s.Left.Round(time.Minute) != 44*time.Hour+30*time.Minute || s.LeftBy != journal.ByPace {
			t.Errorf("only the join is left: %v left, by %q", s.Left, s.LeftBy)
		}
	})
}

// The check, the act and the verification of a step are one piece of work: none begins it anew, an act that says only that it starts
// goes by the clock, and so does one whose own share is whole before it ends.
func TestTheShareOfAStepGoesOnThroughItsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runner{
			state: &journal.State{Items: []*journal.Step{
				{Key: "join", Step: &runbook.Step{ID: "join", Uses: "cql.join"}}, {Key: "cleanup", Step: &runbook.Step{ID: "cleanup", Uses: "cql.cleanup"}},
			}},
			learned: learned{"join": 60, "cleanup": 60}, jobs: map[string]*job{},
		}
		job := func() *job {
			j := &job{}
			j.progress.share, j.progress.began = -1, time.Now()
			r.jobs["join"] = j
			return j
		}
		said := func(what string, least, most float64) {
			if s := r.summary(); s.Share < least || s.Share > most {
				t.Errorf("%s: %.3f, expected %.2f to %.2f", what, s.Share, least, most)
			}
		}
		job() // the check
		time.Sleep(12 * time.Second)
		said("the check", 0.09, 0.11)
		delete(r.jobs, "join")
		said("between two jobs", 0.09, 0.11)
		act := job()
		said("the act begins", 0.09, 0.11)
		act.progress.tell(0, "starting")
		time.Sleep(18 * time.Second)
		said("it starts", 0.24, 0.26)
		act.progress.tell(1, "5.8 of 5.8 MB sent; starting")
		said("all is sent, and it goes on", 0.24, 0.26)
		time.Sleep(20 * time.Second)
		said("and on", 0.41, 0.43)
		job() // the verification
		said("the verification begins", 0.41, 0.43)
	})
}

// What onlookers see is never taken back, even where the truth is further off than it seemed.
func TestTheShareThatIsShownNeverGoesDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		act := &job{}
		act.progress.share, act.progress.began = -1, time.Now()
		r := &runner{
			state:   &journal.State{Items: []*journal.Step{{Key: "join", Step: &runbook.Step{ID: "join", Uses: "cql.join"}}}},
			learned: learned{"join": 60}, jobs: map[string]*job{"join": act},
		}
		time.Sleep(30 * time.Second)
		before := r.show().Share
		act.progress.tell(0.01, "it streams")
		time.Sleep(10 * time.Minute)
		act.progress.tell(0.11, "it streams")
		if s := r.show(); before < 0.4 || s.Share != before || s.Left < time.Hour {
			t.Errorf("from %.2f to %.2f, %v left", before, s.Share, s.Left)
		}
	})
}

// A look at the cluster before a step that takes long says since when and until when, and gives no time left.
func TestALongWaitForTheClusterSaysUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := &job{key: "each[n2]", until: time.Now().Add(10 * time.Minute)}
		look.progress.began = time.Now()
		look.progress.tell(-1, "waiting for the cluster to be healthy: n3 does not answer")
		r := &runner{
			state:   &journal.State{Items: []*journal.Step{{Key: "each[n2].restart", Step: &runbook.Step{ID: "restart", Uses: "server.restart"}}}},
			learned: learned{"restart": 60}, jobs: map[string]*job{"each[n2]": look},
		}
		if s := r.show(); s.Detail != "before each[n2]: waiting for the cluster to be healthy: n3 does not answer" {
			t.Errorf("at once: %q", s.Detail)
		}
		time.Sleep(time.Minute)
		want := fmt.Sprintf("before each[n2]: waiting for the cluster to be healthy: n3 does not answer, since %s, until %s at the latest",
			look.progress.began.Local().Format(time.TimeOnly), look.until.Local().Format(time.TimeOnly))
		if s := r.show(); s.Detail != want || s.Left != 0 {
			t.Errorf("after a minute: %q, %v left", s.Detail, s.Left)
		}
	})
}

// The whole of a group counts while its targets are not known.
func TestAGroupWeighsWhatAllOfItTook(t *testing.T) {
	t.Parallel()
	past := &journal.State{Settling: map[string]time.Duration{"others": time.Second}}
	for _, node := range []string{"n1", "n2", "n3"} {
		past.Items = append(past.Items, &journal.Step{Key: "others[" + node + "].cleanup", Group: "others", Target: node, Phase: journal.StepDone, Took: 10 * time.Second, Step: &runbook.Step{ID: "cleanup", Uses: "cql.cleanup"}})
	}
	l := learned(past.Timings())
	st := &journal.State{Targets: map[string][]string{}}
	later := journal.PlanStep{Key: "others", Later: []string{"join"}}
	st.Header.Plan.Steps = []journal.PlanStep{later}
	if parts := st.Parts(); len(parts) != 1 || l.weight(parts[0].ID) != 30 || l.total(st.Header.Plan) != 30 {
		t.Errorf("%+v of %v: %v in all", parts, l, l.total(st.Header.Plan))
	}
	if w := l.weight("unknown"); w != 5.5 { // the mean of a cleanup and a wait
		t.Errorf("an unknown part weighs %v", w)
	}
}
