package run

import (
	"time"

	"plimsoll/trial/spec"
)

// pace is how fast a trial gets on.
type pace struct {
	done      int           // cells measured, over all rounds
	spent     time.Duration // on them
	prepared  int           // data sets whose servers run
	preparing time.Duration // how long that took
}

// What is assumed of a small server, before anything is known.
const (
	making  = 20 * time.Second // making its data folder, starting it and loading the data; and a runbook's turn on a ring's node
	restart = 8 * time.Second  // putting its data back and starting it
	adjust  = time.Second      // changing its settings, mostly without a restart
	acting  = 3 * time.Second  // a change or a runbook
)

// turns is how many servers are waited for one after another: those of a ring join, and are worked on, in turn.
func turns(t *spec.Trial) time.Duration {
	most := 1
	for _, c := range t.Cells {
		if c.Ring {
			most = max(most, c.Cluster.Nodes)
		}
	}
	return time.Duration(most)
}

// left estimates the time that remains, from what was done so far, else from the phases as planned.
func left(t *spec.Trial, p pace) time.Duration {
	sets := time.Duration(len(dataNames(t)) - p.prepared)
	cells := time.Duration(len(t.Cells)*t.Phases.Rounds - p.done)
	return sets*mean(p.preparing, p.prepared, turns(t)*making) + cells*mean(p.spent, p.done, planned(t))
}

// mean is the mean of n, or what is assumed while there is none.
func mean(sum time.Duration, n int, assumed time.Duration) time.Duration {
	if n == 0 {
		return assumed
	}
	return sum / time.Duration(n)
}

// planned is how long a cell should take.
func planned(t *spec.Trial) time.Duration {
	each := turns(t)*restart + loadTime(t)
	if t.Phases.Restore == spec.RestoreNever {
		each = adjust + loadTime(t)
	}
	if w := time.Duration(t.Phases.Warmup); w > 0 {
		return each + w
	}
	return each + min(30*time.Second, t.Phases.WarmupLimit)
}

// dataNames are the names of the data sets that the cells work on.
func dataNames(t *spec.Trial) map[string]bool {
	names := map[string]bool{}
	for _, c := range t.Cells {
		names[c.Data] = true
	}
	return names
}

// loadTime is how long a cell is measured, as far as that is known beforehand.
func loadTime(t *spec.Trial) time.Duration {
	if len(t.Timeline) == 0 {
		return t.Phases.Measure
	}
	var sum time.Duration
	for _, s := range t.Timeline {
		sum += s.Length
		switch turns := turns(t); {
		case s.Call == nil:
		case turns > 1 && s.Call.Book != nil:
			sum += turns * making
		default:
			sum += acting
		}
	}
	return sum
}
