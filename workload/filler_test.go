package workload_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"plimsoll/engine"
)

// Rows that write over what is there are sent again when no answer comes, a bounded number of times; others are not.
func TestRowsWithoutAnAnswerAreSentAgain(t *testing.T) {
	silent := &engine.Error{Kind: engine.Timeout, Text: "no answer in time"}
	lost := &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "the server closed the connection"}
	denied := &engine.Error{Kind: engine.Denied, Text: "no right to"}
	for _, c := range []struct {
		what  string
		over  bool
		err   error
		times int64 // inserts that fail before one succeeds
		sent  int64 // 0: all rows are there in the end
	}{
		{"no answer", true, silent, 5, 0},
		{"a lost connection", true, lost, 5, 0},
		{"never an answer", true, silent, 1 << 40, 7},
		{"a refusal", true, denied, 1, 1},
		{"rows that may not be sent twice", false, silent, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			db := newTable()
			db.refuse = func(text string) error {
				if strings.HasPrefix(text, "INSERT") && sent.Add(1) <= c.times {
					return c.err
				}
				return nil
			}
			set := dataSet(1) // of one unit, which one session sends
			set.Sources[0].Most, set.Sources[0].Over = 1, c.over
			err := set.Prepare(t.Context(), db, nil)
			switch {
			case c.sent == 0 && (err != nil || len(db.rows) != 1):
				t.Errorf("%s: %d rows, %v", c.what, len(db.rows), err)
			case c.sent > 0 && (engine.ClassOf(err) != engine.ClassOf(c.err) || sent.Load() != c.sent):
				t.Errorf("%s: sent %d times, %v", c.what, sent.Load(), err)
			}
		})
	}
}
