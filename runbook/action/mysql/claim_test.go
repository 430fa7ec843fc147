package mysql

import (
	"errors"
	"testing"
	"time"

	"plimsoll/runbook/action"
)

// claims tries the marker on a real server.
func claims(t *testing.T, site *action.Site) {
	t.Helper()
	ctx, m := t.Context(), Marker{Site: site}
	first := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	other := action.Claim{Cluster: "c", Run: "r2", Holder: "there", Epoch: 1, For: time.Minute}
	for range 2 { // taken, prolonged
		if err := m.Claim(ctx, first); err != nil {
			t.Fatal(err)
		}
	}
	var claimed *action.ClaimedError
	other.Break = true
	if err := m.Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r1" || claimed.Expired {
		t.Errorf("a second run, although the first's claim holds: %v", err)
	}
	later := first
	later.Epoch, later.For = 2, time.Microsecond
	if err := m.Claim(ctx, later); err != nil {
		t.Fatal(err)
	}
	if err := m.Claim(ctx, first); !errors.As(err, &claimed) {
		t.Errorf("at an older epoch: %v", err)
	}
	other.Break = false
	if err := m.Claim(ctx, other); !errors.As(err, &claimed) || !claimed.Expired {
		t.Errorf("one that has run out is taken unasked: %v", err)
	}
	other.Break = true
	if err := m.Claim(ctx, other); err != nil {
		t.Errorf("one that has run out is not taken: %v", err)
	}
	if err := errors.Join(m.Clear(ctx, later), m.Clear(ctx, other)); err != nil {
		t.Fatal(err)
	}
	if err := m.Claim(ctx, first); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}
