package runs

import (
	"context"
	"time"

	"plimsoll/durable"
)

// FaultTest is what the service of a process under a fault test does that no other does.
type FaultTest struct {
	Store    string               // the folder of its runs, which are none of this state folder's
	Written  func(durable.Moment) // called at each write to the journal
	Lease    time.Duration        // for how long it holds a cluster; 0: as long as usual
	Approves bool                 // every step that asks: nobody watches
}

type faultTestKey struct{}

// WithFaultTest is a context whose desks are opened for a fault test. They know no cluster but labs.
func WithFaultTest(ctx context.Context, t *FaultTest) context.Context {
	return context.WithValue(ctx, faultTestKey{}, t)
}

// faultTestOf is the fault test that a context belongs to; nil: none.
func faultTestOf(ctx context.Context) *FaultTest {
	t, _ := ctx.Value(faultTestKey{}).(*FaultTest)
	return t
}
