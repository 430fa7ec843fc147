package load_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
)

// findMax searches in a bubble, on a server with so many processors that each need 1 ms for an operation.
func findMax(t *testing.T, processors, connections int) (found load.Max, tried []load.Level) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{}, processors)
		server := &loadtest.Server{Answer: func(int) error {
			free <- struct{}{}
			time.Sleep(time.Millisecond)
			<-free
			return nil
		}}
		var err error
		found, err = load.FindMax(t.Context(), load.Spec{Operations: []string{"read"}, Connections: connections}, load.Here(server.Connect),
			func(l load.Level) { tried = append(tried, l) })
		if err != nil {
			t.Fatal(err)
		}
		if server.Connections() != 0 {
			t.Errorf("%d connections were left open", server.Connections())
		}
	})
	return found, tried
}

func TestFindMax(t *testing.T) {
	found, tried := findMax(t, 10, 256)
	if found.Throughput < 9990 || found.Throughput > 10010 || found.Connections != 16 && found.Connections != 32 && found.Connections != 64 || found.Rising {
		t.Errorf("found %+v", found)
	}
	var numbers []int
	for _, l := range tried {
		numbers = append(numbers, l.Connections)
	}
	if len(tried) != len(found.Levels) || len(numbers) != 5 || numbers[0] != 4 || numbers[4] != 64 {
		t.Errorf("tried %v", tried)
	}

	if found, _ := findMax(t, 100, 20); !found.Rising || found.Connections != 20 || found.Throughput < 19_900 {
		t.Errorf("with too few connections: %+v", found)
	}
	if found, _ := findMax(t, 100, 2); found.Connections != 2 || found.Throughput < 1990 {
		t.Errorf("with two connections: %+v", found)
	}
}

func TestFindMaxFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := load.Spec{Operations: []string{"read"}, Connections: 16}
		server := &loadtest.Server{
			Service: fixed(time.Millisecond),
			Answer:  func(int) error { return &loadtest.Error{Kind: "missing"} },
		}
		if _, err := load.FindMax(t.Context(), spec, load.Here(server.Connect), nil); err == nil || !strings.Contains(err.Error(), "no operation succeeded: missing: simulated missing") {
			t.Errorf("a server that only errs: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		server.Answer = nil
		if _, err := load.FindMax(ctx, spec, load.Here(server.Connect), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a search cut short: %v", err)
		}
	})
}

// A connection that cannot be made ends the run before it began, and closes the others.
func TestConnectFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &loadtest.Server{}
		refused := errors.New("too many connections")
		var calls atomic.Int64
		connect := func(ctx context.Context, worker int) (load.Client, error) {
			switch n := calls.Add(1); {
			case n == 30:
				return nil, refused
			case n > 30: // which may be called before that one has returned
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return server.Connect(ctx, worker)
		}
		_, err := load.Run(t.Context(), load.Spec{Operations: []string{"read"}, Connections: 10_000}, connect, nil)
		if !errors.Is(err, refused) || !strings.Contains(err.Error(), "connect worker") {
			t.Errorf("%v", err)
		}
		if n := server.Connections(); n != 0 {
			t.Errorf("%d connections were left open", n)
		}
		if n := calls.Load(); n > 100 {
			t.Errorf("%d connections were tried after one failed", n-30)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := load.Run(ctx, load.Spec{Operations: []string{"read"}, Connections: 1}, server.Connect, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before it began: %v", err)
		}
	})
}

func TestRunRefusesSpec(t *testing.T) {
	good := load.Spec{Operations: []string{"read"}, Connections: 1}
	for name, change := range map[string]func(*load.Spec){
		"no operations":       func(s *load.Spec) { s.Operations = nil },
		"no connections":      func(s *load.Spec) { s.Connections = 0 },
		"a negative duration": func(s *load.Spec) { s.Duration = -1 },
		"a negative limit":    func(s *load.Spec) { s.Limit = -1 },
		"a negative timeout":  func(s *load.Spec) { s.Timeout = -1 },
		"a negative grace":    func(s *load.Spec) { s.Grace = -1 },
	} {
		spec := good
		change(&spec)
		if _, err := load.Run(t.Context(), spec, nil, nil); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
