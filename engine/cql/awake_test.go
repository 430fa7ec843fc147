package cql

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// asking is a policy over two nodes, a first and b second, for a load whose clock stands still.
type asking struct {
	*awake
	at time.Duration
}

func twoNodes(t *testing.T) *asking {
	t.Helper()
	var hosts []*gocql.HostInfo
	for id, last := range map[string]byte{"a": 1, "b": 2} {
		row := map[string]any{"host_id": gocql.TimeUUID(), "rpc_address": net.IPv4(10, 0, 0, last).String(), "data_center": id}
		host, err := gocql.NewTestHostInfoFromRow(row)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, host)
	}
	if hosts[0].DataCenter() != "a" {
		hosts[0], hosts[1] = hosts[1], hosts[0]
	}
	w := &asking{newAwake(order{hosts: hosts}), time.Second}
	w.now = func() time.Duration { return w.at }
	return w
}

// order gives its nodes always in the same order.
type order struct {
	gocql.HostSelectionPolicy
	hosts []*gocql.HostInfo
}

func (o order) Pick(gocql.ExecutableStatement) gocql.NextHost {
	left := o.hosts
	return func() gocql.SelectedHost {
		if len(left) == 0 {
			return nil
		}
		var next plainHost
		next.HostInfo, left = left[0], left[1:]
		return next
	}
}

type plainHost struct{ *gocql.HostInfo }

func (h plainHost) Info() *gocql.HostInfo { return h.HostInfo }
func (plainHost) Mark(error)              {}

// statement is one under a context.
type statementUnder struct {
	gocql.ExecutableStatement
	ctx context.Context
}

func (s statementUnder) Context() context.Context { return s.ctx }

// first is who is asked first.
func (w *asking) first(t *testing.T, ctx context.Context, want string) gocql.SelectedHost {
	t.Helper()
	host := w.Pick(statementUnder{ctx: ctx})()
	if host == nil || host.Info().DataCenter() != want {
		t.Fatalf("asks %v first, want %s", host, want)
	}
	return host
}

func TestANodeThatHangsIsAskedLast(t *testing.T) {
	w, ctx := twoNodes(t), t.Context()
	over, end := context.WithCancel(ctx)
	stuck := w.first(t, over, "a")
	w.at += tooLong / 2
	w.first(t, ctx, "a").Mark(nil) // it answered another
	w.at += tooLong
	waits := w.first(t, over, "a") // so that it owes nothing that was asked since
	w.at += tooLong + 1
	w.first(t, over, "a") // to see whether it still hangs
	for range 3 {
		w.first(t, ctx, "b").Mark(nil)
	}
	if all := w.hanging(); len(all) != 1 {
		t.Errorf("hanging: %v", all)
	}
	end()
	stuck.Mark(nil) // as the driver does with a request whose own time was over
	waits.Mark(gocql.ErrTimeoutNoResponse)
	w.first(t, ctx, "b").Mark(nil)
	w.at += tryAgain
	again := w.first(t, ctx, "a")
	w.first(t, ctx, "b").Mark(nil)
	again.Mark(nil)
	w.first(t, ctx, "a").Mark(nil)
	if all := w.hanging(); all != nil {
		t.Errorf("hanging: %v", all)
	}
}

func TestANodeThatOwesManyAnswersIsLeftSooner(t *testing.T) {
	w, ctx := twoNodes(t), t.Context()
	for range manyOwed {
		w.first(t, ctx, "a")
	}
	w.at += tooLongMany + 1
	w.first(t, ctx, "a")
	next := w.Pick(statementUnder{ctx: ctx})
	if host := next(); host.Info().DataCenter() != "b" {
		t.Fatalf("asks %v first", host)
	}
	if host := next(); host == nil || host.Info().DataCenter() != "a" {
		t.Fatalf("asks %v then: nobody else is left", host)
	}
	if host := next(); host != nil {
		t.Fatalf("asks %v as the third of two", host)
	}
}

func TestOnlyAnAnswerIsASignOfLife(t *testing.T) {
	for err, is := range map[error]bool{
		nil: true, gocql.ErrTimeoutNoResponse: false, gocql.ErrConnectionClosed: false, errors.New("no stream"): false,
		&gocql.RequestErrReadTimeout{}: true,
	} {
		if answered(err) != is {
			t.Errorf("%v: %v", err, !is)
		}
	}
}

func TestANodeWithoutAConnectionOwesNothing(t *testing.T) {
	w := twoNodes(t)
	next := w.Pick(nil)
	if a, b := next(), next(); a == nil || b == nil { // the driver has no connection to a and goes on
		t.Fatal("two nodes are not asked")
	}
	w.at += 2 * tooLong
	w.first(t, t.Context(), "a").Mark(nil)
}
