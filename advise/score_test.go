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
	for _, want := range []string{"2 predictions", "mean error 8 %", "worst 14 %", "1 were within", "1 more"} {
		if !strings.Contains(board, want) {
			t.Errorf("%q lacks %q", board, want)
		}
	}
	if Scoreboard(nil) != "" {
		t.Error("a scoreboard of nothing")
	}
}
