package collect

import (
	"context"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// silent is a session of a server that has nothing to tell.
type silent struct{ engine.Session }

func (silent) Exec(_ context.Context, _ string, r *engine.Result) error {
	if r != nil {
		*r = engine.Result{}
	}
	return nil
}

func (silent) Table(context.Context, string) ([]map[string]string, error) { return nil, nil }

func (silent) Close() error { return nil }

// Of a server in distress only what is due each second is read. Whose load it is needs no query, and is written of each ten samples all the same.
func TestLoadByAccountOfAServerInDistress(t *testing.T) {
	q := MySQL(func(context.Context) (engine.Session, error) { return silent{}, nil }, 1)[0].(*quick)
	q.link.greet = func(context.Context, *link) error { return nil }
	q.breaker.slow = time.Minute
	begin := time.Now()
	readings, at := 0, 0
	for second := range 60 {
		level := watch.Second
		if second < 30 && second%10 == 0 {
			level = watch.TenSeconds
		}
		now := begin.Add(time.Duration(second) * time.Second)
		q.breaker.strained(40*oneIf(second >= 30), 1)
		r, err := q.Collect(t.Context(), level, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Samples {
			if s.Name != "plimsoll_statement_readings" {
				continue
			}
			readings++
			if since := second + 1 - at; since != samplesApart {
				t.Errorf("at second %d a reading is of %d samples", second, since)
			}
			at = second + 1
		}
	}
	if readings != 6 {
		t.Errorf("%d readings in a minute, want 6", readings)
	}
}
