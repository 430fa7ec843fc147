package advise

import (
	"fmt"
	"math"
	"time"
)

// Score is a prediction beside what came of it.
type Score struct {
	At      time.Time `json:"at"`   // of the check
	Made    time.Time `json:"made"` // of the advice
	Changed time.Time `json:"changed,omitzero"`
	Cluster string    `json:"cluster"`
	Node    string    `json:"node"`
	Option  string    `json:"option"`
	What    string    `json:"what"`
	Unit    string    `json:"unit"`

	Before    float64 `json:"before"`
	Predicted Figure  `json:"predicted"`
	Came      Figure  `json:"came"`
	// Load is how the work that the prediction rests on is now, against then: the prediction is scaled by it where Scaled is so.
	Load   float64 `json:"load"`
	Scaled bool    `json:"scaled,omitempty"`
	LoadOf LoadOf  `json:"load_of,omitempty"`
	Doubt  string  `json:"doubt,omitempty"` // why the comparison says little
}

// Off is by how much what came lies beside what was predicted, as a share of the prediction.
func (s Score) Off() float64 {
	if s.Predicted.Mean == 0 {
		return 0
	}
	return s.Came.Mean/s.Predicted.Mean - 1
}

// Held tells whether what came and the prediction's interval have anything in common.
func (s Score) Held() bool { return s.Came.High >= s.Predicted.Low && s.Came.Low <= s.Predicted.High }

// Scoreboard sums up scores. What is in doubt is counted and not summed up.
func Scoreboard(all []Score) string {
	n, doubtful, held, sum, worst := 0, 0, 0, 0.0, 0.0
	doubt := ""
	for _, s := range all {
		if s.Doubt != "" {
			doubtful, doubt = doubtful+1, s.Doubt
			continue
		}
		n++
		off := math.Abs(s.Off())
		sum, worst = sum+off, max(worst, off)
		if s.Held() {
			held++
		}
	}
	switch {
	case n == 0 && doubtful == 0:
		return ""
	case n == 0 && doubtful == 1:
		return "One prediction was checked afterwards, and is not counted: " + doubt + "."
	case n == 0:
		return fmt.Sprintf("%d predictions were checked afterwards, and none is counted, because the load, its use of the limit or the cache was not comparable.", doubtful)
	}
	text := fmt.Sprintf("%d predictions were checked afterwards: mean error %.0f %%, worst %.0f %%; %d were within their interval.", n, 100*sum/float64(n), 100*worst, held)
	if n == 1 {
		text = fmt.Sprintf("One prediction was checked afterwards: it was off by %.0f %%.", 100*worst)
	}
	switch doubtful {
	case 0:
		return text
	case 1:
		return text + " 1 more is not counted: " + doubt + "."
	}
	return text + fmt.Sprintf(" %d more are not counted, because the load, its use of the limit or the cache was not comparable.", doubtful)
}
