package collect

import (
	"context"
	"slices"
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

// A connection that was lost says nothing about a query: what is known of it stays, and nobody is told to correct it.
func TestOwnSQLThatLostItsConnectionIsNotWrong(t *testing.T) {
	why := error(&engine.Error{Kind: engine.Unavailable, Lost: true, Text: "the server closed the connection"})
	s := MySQL(nil, 1, Query{Name: "open_orders", SQL: "SELECT 1", Every: time.Hour})[1].(*slow)
	s.session = broken{why: &why}
	r, err := s.Collect(t.Context(), watch.Second, time.Now())
	if err == nil {
		t.Error("the lost connection is no error")
	}
	if !slices.ContainsFunc(r.Samples, func(one watch.Sample) bool { return one.Name == "plimsoll_own_query_failed" && one.Value == 1 }) {
		t.Errorf("the query gave no values, and the samples do not say so: %+v", r.Samples)
	}
	if found := s.findingsNow(); len(found) != 0 {
		t.Errorf("the findings are %+v", found)
	}
}

// What to do about a query that failed depends on why it did.
func TestTheAdviceAboutOwnSQLIsOfItsFailure(t *testing.T) {
	const correct = "Correct it in watch.yaml"
	for class, want := range map[engine.Class]string{
		engine.Timeout: "did not end within 2s", engine.Denied: "privileges", engine.LockTimeout: "Look at the server", engine.Overloaded: "Look at the server",
		engine.Missing: correct, engine.Invalid: correct, engine.Other: correct,
	} {
		why := error(&engine.Error{Kind: class, Text: "no"})
		s := MySQL(nil, 1, Query{Name: "open_orders", SQL: "SELECT 1", Every: time.Second})[1].(*slow)
		s.session = broken{why: &why}
		if _, err := s.Collect(t.Context(), watch.Second, time.Now()); err != nil {
			t.Fatal(err)
		}
		found := s.findings()
		if len(found) != 1 || !strings.Contains(found[0].Do, want) || strings.Contains(found[0].Do, correct) != (want == correct) {
			t.Errorf("of %s the findings are %+v", class, found)
		}
	}
}
