package workload_test

import (
	"context"
	"errors"
	"testing"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/internal/recorder"
)

// fail answers the calls of these texts with these errors.
func fail(errs map[string]error) *recorder.Recorder {
	return &recorder.Recorder{Answer: func(text string, _ []engine.Value, _ *engine.Result) error { return errs[text] }}
}

func transfer(ctx context.Context, c *workload.Connection) error {
	if err := c.Begin(ctx); err != nil {
		return err
	}
	if err := c.Exec(ctx, 0, nil, nil); err != nil {
		return err
	}
	return c.Commit(ctx)
}

func TestAnErrorRollsTheTransactionBack(t *testing.T) {
	deadlock := &engine.Error{Kind: engine.Deadlock, Text: "deadlock"}
	gone := &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "gone away"}
	for name, c := range map[string]struct {
		errs  map[string]error
		asked string
		class engine.Class
		lost  bool
	}{
		"none":                {nil, "BEGIN\nUPDATE\nCOMMIT\n", "", false},
		"in BEGIN":            {map[string]error{"BEGIN": deadlock}, "BEGIN\nROLLBACK\n", engine.Deadlock, false},
		"in a statement":      {map[string]error{"UPDATE": deadlock}, "BEGIN\nUPDATE\nROLLBACK\n", engine.Deadlock, false},
		"in COMMIT":           {map[string]error{"COMMIT": deadlock}, "BEGIN\nUPDATE\nCOMMIT\nROLLBACK\n", engine.Deadlock, false},
		"of the connection":   {map[string]error{"UPDATE": gone}, "BEGIN\nUPDATE\n", engine.Unavailable, true},
		"in ROLLBACK as well": {map[string]error{"UPDATE": deadlock, "ROLLBACK": gone}, "BEGIN\nUPDATE\nROLLBACK\n", engine.Deadlock, true},
	} {
		t.Run(name, func(t *testing.T) {
			db := fail(c.errs)
			conn, err := workload.Dial(t.Context(), db, []string{"UPDATE"})
			if err != nil {
				t.Fatal(err)
			}
			err = conn.End(t.Context(), transfer(t.Context(), conn))
			if asked := db.Lines(); asked != c.asked {
				t.Errorf("asked %q, expected %q", asked, c.asked)
			}
			if c.class == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var broken load.Broken
			if engine.ClassOf(err) != c.class || !errors.As(err, &broken) || broken.ConnectionLost() != c.lost {
				t.Errorf("got %v of class %s, lost %v", err, engine.ClassOf(err), broken.ConnectionLost())
			}
			if err := conn.End(t.Context(), nil); err != nil || db.Lines() != "\n" {
				t.Error("the transaction was ended twice")
			}
		})
	}
}

func TestReconnectPreparesAgain(t *testing.T) {
	prepared := 0
	refuse := errors.New("down")
	db := &sessions{Recorder: &recorder.Recorder{}, open: func() error { prepared++; return nil }}
	conn, err := workload.Dial(t.Context(), db, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	db.open = func() error { return refuse }
	if err := conn.Reconnect(t.Context()); !errors.Is(err, refuse) {
		t.Errorf("got %v", err)
	}
	conn.Interrupt() // must find a session, even if it is a closed one
	db.open = func() error { prepared++; return nil }
	if err := conn.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(t.Context(), 1, nil, nil); err != nil || db.Lines() != "b\n" || prepared != 2 {
		t.Errorf("%v, %d sessions", err, prepared)
	}
}

// sessions is a recorder that tells when a session is opened.
type sessions struct {
	*recorder.Recorder
	open func() error
}

func (s *sessions) Session(ctx context.Context) (engine.Session, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	return s.Recorder.Session(ctx)
}
