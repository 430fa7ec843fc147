package collect

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// broken is a session that refuses own SQL while it has a reason.
type broken struct {
	silent
	why *error
}

func (b broken) Table(context.Context, string) ([]map[string]string, error) { return nil, *b.why }

// A query of one's own that fails is a finding of the instance, with what the server said, until it succeeds.
func TestOwnSQLThatFailsIsAFinding(t *testing.T) {
	why := error(&engine.Error{Kind: engine.Missing, Text: "Table 'shop.oders' does not exist"})
	s := MySQL(nil, 1, Query{Name: "open_orders", SQL: "SELECT COUNT(*) AS n FROM shop.oders", Every: time.Second})[1].(*slow)
	s.session = broken{why: &why}
	at := time.Now()
	if _, err := s.Collect(t.Context(), watch.Second, at); err != nil {
		t.Fatal(err)
	}
	found := s.findings()
	if len(found) != 1 || found[0].Code != "own-query-failed" || !strings.Contains(found[0].Text, "open_orders") || !strings.Contains(found[0].Text, "shop.oders") {
		t.Errorf("the findings are %+v", found)
	}
	why = nil
	if _, err := s.Collect(t.Context(), watch.Second, at.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	if found := s.findings(); len(found) != 0 {
		t.Errorf("once it succeeds the findings are %+v", found)
	}
}
