package mysql

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
)

// A claim is judged by the clock of the server that wrote it, whichever server tells of it.
func TestAClaimIsJudgedByTheClockOfItsWriter(t *testing.T) {
	t.Parallel()
	row := func(of, on, now string, expired time.Duration) []string {
		return []string{"r1", "here" + placeBegins + of + placeEnds, "1", fmt.Sprint((expired + 30*time.Second).Microseconds()), fmt.Sprint(expired.Microseconds()), "1", copied, now, "x", on}
	}
	for name, c := range map[string]struct {
		rows    [][]string
		sure    bool
		expired bool
	}{
		"an hour behind":        {[][]string{row("2", "1", "2026-11-27 08:00:00.5", -3558*time.Second), row("2", "2", "2026-11-27 09:00:00.5", 42*time.Second)}, true, true},
		"an hour ahead":         {[][]string{row("2", "1", "2026-11-27 10:00:00", 3595*time.Second), row("2", "2", "2026-11-27 09:00:00", -5*time.Second)}, true, false},
		"no answer":             {[][]string{row("2", "1", "2026-11-27 10:00:00", 3595*time.Second), nil}, false, true},
		"two of one number":     {[][]string{row("2", "1", "2026-11-27 10:00:00", time.Hour), row("2", "2", "2026-11-27 09:00:00", 0), row("2", "2", "2026-11-27 10:00:00", 0)}, false, true},
		"an older release's":    {[][]string{{"r1", "here", "1", "0", "1", "1", "0", "2026-11-27 10:00:00", "x", "1"}}, false, true},
		"the server's own, old": {[][]string{row("1", "1", "2026-11-27 10:00:00", time.Second)}, true, true},
	} {
		sure := byWriters(c.rows)
		if is := claimed("c", c.rows[0]); sure[0] != c.sure || is.Expired != c.expired {
			t.Errorf("%s: sure %v, expired %v (%s)", name, sure[0], is.Expired, is.Silent)
		}
	}
}

// claimsOfAnotherClock tries it with a claim whose writer does not answer: no clock tells whether it has run out, and it is watched.
func claimsOfAnotherClock(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx := t.Context()
	tell := func(statement string) {
		t.Helper()
		if err := on.Execute(ctx, "n1", []string{statement}, func(int) {}); err != nil {
			t.Error(err)
		}
	}
	first := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	other := action.Claim{Cluster: "c", Run: "r2", Holder: "there", Epoch: 1, For: time.Minute, Break: true}
	for _, expires := range []string{"- INTERVAL 1 HOUR", "+ INTERVAL 1 HOUR"} { // by a clock that is an hour ahead, and one that is behind
		if err := NewClusterLock(on).Claim(ctx, first); err != nil {
			t.Fatal(err)
		}
		tell("UPDATE plimsoll.claim SET holder = 'here [server_id 4000000000]', expires = UTC_TIMESTAMP(6) " + expires)
		m := NewClusterLock(on)
		m.locks.unheard = 2 * time.Second
		var claimed *action.ClaimedError
		if err := m.Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r1" || claimed.Expired {
			t.Errorf("%s: a claim that nobody watched is taken by another server's clock: %v", expires, err)
		}
		watched := make(chan error, 1)
		go func() { watched <- m.Watch(ctx, other) }()
		stops := time.After(20 * time.Second)
		for lives := true; lives; { // its run lives, and prolongs it
			tell("UPDATE plimsoll.claim SET expires = expires + INTERVAL 1 SECOND")
			select {
			case err := <-watched:
				if lives = false; err != nil {
					t.Error(err)
				}
			case <-stops:
				t.Fatalf("%s: Watch does not end", expires)
			case <-time.After(300 * time.Millisecond):
			}
		}
		if err := m.Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r1" {
			t.Errorf("%s: the claim of a run that lives is taken: %v", expires, err)
		}
		began, told := time.Now(), time.Duration(0)
		other.Waiting = func(most time.Duration) { told = most }
		if err := errors.Join(m.Watch(ctx, other), m.Claim(ctx, other)); err != nil {
			t.Errorf("%s: a claim that nobody prolongs is not taken: %v", expires, err)
		}
		if told < m.locks.unheard {
			t.Errorf("%s: who waits is told that it takes %s at most", expires, told)
		}
		if took := time.Since(began); took < m.locks.unheard {
			t.Errorf("%s: it was taken after %s", expires, took)
		}
		if err := m.Clear(ctx, other); err != nil {
			t.Error(err)
		}
	}
}
