package mysql

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// claimsByOneClock reads a claim in another time zone than that in which it was taken, as a replica may be configured: it is as old as it is.
func claimsByOneClock(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, m, c := t.Context(), NewClusterLock(on), action.Claim{Cluster: "c", Run: "zone", Holder: "here", Epoch: 1, For: time.Minute}
	if err := m.Claim(ctx, c); err != nil {
		t.Fatal(err)
	}
	db, err := on.Database(ctx, "n1")
	if err != nil {
		t.Fatal(err)
	}
	session, err := db.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	read := engine.Result{Keep: true}
	err = errors.Join(session.Exec(ctx, "SET time_zone = '+09:00'", nil), session.Exec(ctx, readClaim, &read), session.Close())
	if err != nil || read.Rows != 1 {
		t.Fatal(read.Rows, err)
	}
	for column, within := range map[int]time.Duration{3: 50 * time.Second, 4: time.Minute} {
		micros, err := strconv.ParseInt(cluster.Plain(read.At(0, column)), 10, 64)
		if distance := time.Duration(micros) * time.Microsecond; err != nil || distance.Abs() > within {
			t.Errorf("column %d of the claim is %s away: %v", column, distance, err)
		}
	}
	if err := m.Clear(ctx, c); err != nil {
		t.Error(err)
	}
}
