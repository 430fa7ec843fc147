package runbook

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAnActThatSaysHowFarItIsIsTimedByItsOwnPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := &job{}
		long.progress.share, long.progress.began = -1, time.Now()
		r := &runner{
			state: &State{Items: []*Item{
				{Key: "join", Step: &Step{ID: "join", Uses: "cql.join"}}, {Key: "cleanup", Step: &Step{ID: "cleanup", Uses: "cql.cleanup"}},
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
		if s := r.summary(); s.Left.Round(time.Minute) != 44*time.Hour+30*time.Minute || s.Share < 0.09 || s.Share > 0.11 {
			t.Errorf("by its pace: %v left, %.3f done", s.Left, s.Share)
		}
		long.progress.tell(0.05, "a stream was found that was not known")
		if share, _ := long.progress.now(); share != 0.11 {
			t.Errorf("it went back to %.2f", share)
		}
		r.learned = nil
		if s := r.summary(); s.Left != 0 {
			t.Errorf("nothing is known of the cleanup: %v left", s.Left)
		}
		r.state.Items[1].Phase = Settled
		if s := r.summary(); s.Left.Round(time.Minute) != 44*time.Hour+30*time.Minute {
			t.Errorf("only the join is left: %v left", s.Left)
		}
	})
}
