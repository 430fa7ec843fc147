package advise

import (
	"strings"
	"testing"
)

func TestAScoreboardSumsUpWhatCanBeCompared(t *testing.T) {
	exact := func(v float64) Figure { return Figure{Mean: v, Low: v, High: v} }
	board := Scoreboard([]Score{
		{Predicted: Figure{Mean: 100, Low: 90, High: 110}, Came: exact(102)},
		{Predicted: Figure{Mean: 100, Low: 90, High: 110}, Came: exact(86)},
		{Predicted: exact(100), Came: exact(900), Doubt: "the load is another"},
	})
	for _, want := range []string{"2 predictions", "mean error 8 %", "worst 14 %", "1 were within", "1 more is not counted: the load is another."} {
		if !strings.Contains(board, want) {
			t.Errorf("%q lacks %q", board, want)
		}
	}
	unused := Score{Predicted: exact(4000), Came: exact(2760), Doubt: "the service uses 2760 of the predicted limit of 4000: only a higher load would test the prediction"}
	if board := Scoreboard([]Score{unused}); board != "One prediction was checked afterwards, and is not counted: the service uses 2760 of the predicted limit of 4000: only a higher load would test the prediction." {
		t.Errorf("a limit that is not used: %q", board)
	}
	if board := Scoreboard([]Score{unused, unused, {Predicted: exact(100), Came: exact(110)}}); !strings.HasPrefix(board, "One prediction was checked afterwards: it was off by 10 %. 2 more are not counted, because the load, its use of the limit or the cache") {
		t.Errorf("%q", board)
	}
	if Scoreboard(nil) != "" {
		t.Error("a scoreboard of nothing")
	}
}
