package runbookcmd

import (
	"context"
	"fmt"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/runbook/journal"
)

// accompany waits for the other runs that go on here because their process had died: until they end, or wait for people, or the person
// here has enough. They are parked where they are when it returns, and leave returns to say so.
func accompany(ctx context.Context, c console.Streams, d *runs.Service, others []string) (leave func()) {
	background := context.WithoutCancel(ctx)
	for _, r := range others {
		if atWork(background, d, r) {
			fmt.Fprintf(c.Err, "waiting for run %s, which is being resumed because its process had died (Ctrl-C interrupts it)\n", r)
			await(ctx, d, r)
		}
	}
	return func() {
		for _, r := range others {
			if st, err := d.State(background, r); err == nil {
				fmt.Fprintf(c.Err, "run %s, which was resumed: %s\n", r, left(r, st))
			}
		}
	}
}

// atWork tells whether a run is at work, and not waiting for people.
func atWork(ctx context.Context, d *runs.Service, run string) bool {
	st, err := d.State(ctx, run)
	return err == nil && st.Outcome == "" && !st.Parked && len(journal.Asking(st)) == 0
}

// await returns when a run is not at work any more, or ctx has ended.
func await(ctx context.Context, d *runs.Service, run string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for atWork(ctx, d, run) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// left says how a run was left.
func left(run string, st *journal.State) string {
	if st.Outcome != "" {
		return string(st.Outcome)
	}
	return "interrupted" + where(st) + "; " + st.ContinueHint(run)
}
