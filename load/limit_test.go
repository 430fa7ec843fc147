package load_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
)

// Above the limit an operation is late if it was sent, and skipped if it was not.
func TestLimit(t *testing.T) {
	server := &loadtest.Server{Service: fixed(10 * time.Millisecond)}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 5, Duration: 20 * time.Second, Limit: time.Second,
		Schedule: schedule(t, load.Uniform, load.Constant(100)),
	}
	out := run(t, spec, server, func(context.Context, func()) {
		time.Sleep(5*time.Second + 5*time.Millisecond)
		server.Freeze()
		time.Sleep(4 * time.Second)
		server.Thaw()
	})
	// Frozen from 5.005 to 9.005: five operations, due 5.00 to 5.04, are sent and end 4 s late; those due up to 8.005 are
	// over the limit when the server goes on; of the 100 due up to 9.00, five every 10 ms are sent, so those due until
	// 10 ms before 8.015 miss the limit while they run or wait.
	if out.All.Scheduled != 2000 || out.All.Late < 5 || out.All.Late > 12 || out.All.Skipped < 295 || out.All.Skipped > 299 || out.All.Errors != 0 {
		t.Errorf("%+v", out.All.Tally)
	}
	if slowest := out.All.Response.Max(); slowest < 4*time.Second || slowest > 4100*time.Millisecond {
		t.Errorf("slowest response %v", slowest)
	}
}

// A closed loop has a limit too; it skips nothing.
func TestLimitOfAClosedLoop(t *testing.T) {
	var n atomic.Int64
	server := &loadtest.Server{Service: func(int) time.Duration {
		if n.Add(1)%10 == 0 {
			return 20 * time.Millisecond
		}
		return time.Millisecond
	}}
	out := run(t, load.Spec{Operations: []string{"read"}, Connections: 1, Duration: 29 * time.Second, Limit: 10 * time.Millisecond}, server, nil)
	if out.All.Late != 1000 || out.All.Done != 9000 || out.All.Skipped != 0 {
		t.Errorf("%+v", out.All.Tally)
	}
}

// An operation that hangs is given up after the timeout, and its connection replaced.
func TestTimeout(t *testing.T) {
	var n atomic.Int64
	server := &loadtest.Server{Service: func(int) time.Duration {
		if n.Add(1)%100 == 0 {
			return time.Hour
		}
		return 10 * time.Millisecond
	}}
	out := run(t, load.Spec{Operations: []string{"read"}, Connections: 1, Duration: 30 * time.Second, Timeout: 2 * time.Second}, server, nil)
	// 99 operations and a hang take 0.99 + 2 to 2.1 seconds.
	if e := out.All.Errors; e < 9 || e > 10 || out.All.ErrorClasses[load.ClassTimeout] != e {
		t.Errorf("%d errors, %v", e, out.All.ErrorClasses)
	}
	if out.All.Done < 9*99 {
		t.Errorf("%d done", out.All.Done)
	}
	near(t, "longest service", out.All.Service.Max(), 10*time.Millisecond, 0.001)
}

func TestErrorClasses(t *testing.T) {
	var n atomic.Int64
	server := &loadtest.Server{
		Service: fixed(time.Millisecond),
		Answer: func(int) error {
			switch n.Add(1) % 10 {
			case 0:
				return fmt.Errorf("commit: %w", &loadtest.Error{Kind: "deadlock"})
			case 1:
				return errors.New("a surprise")
			}
			return nil
		},
	}
	out := run(t, load.Spec{Operations: []string{"read"}, Connections: 1, Duration: 10 * time.Second}, server, nil)
	if out.All.Done != 8000 || out.All.ErrorClasses["deadlock"] != 1000 || out.All.ErrorClasses[load.ClassOther] != 1000 {
		t.Errorf("%+v, %v", out.All.Tally, out.All.ErrorClasses)
	}
	if out.Examples["deadlock"] != "commit: simulated deadlock" || out.Examples[load.ClassOther] != "a surprise" {
		t.Errorf("%v", out.Examples)
	}
}
