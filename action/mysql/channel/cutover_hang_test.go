package channel

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// hanging is an engine whose servers never answer.
type hanging struct{ engine.Engine }

func (hanging) Name() string { return "mysql" }

func (hanging) Open(ctx context.Context, _ engine.Target) (engine.Database, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A server that hangs after it was opened keeps neither the run nor its cluster until the deadline of the step: the look has a bound of its own.
func TestACutOverDoesNotWaitForAServerThatHangs(t *testing.T) {
	on := &cluster.Cluster{Name: "shop", Engine: hanging{}, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{
			{Name: "n1", Target: engine.Target{Addresses: []string{"10.0.0.1:3306"}}}, {Name: "n2", Target: engine.Target{Addresses: []string{"10.0.0.2:3306"}}},
		}, nil
	}}
	c := &cutover{From: "n1", To: "n2", WayBack: true, MaxGap: time.Millisecond, answers: 50 * time.Millisecond}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := c.Check(ctx, on)
	if ctx.Err() != nil || err == nil || !strings.Contains(err.Error(), "n1 or n2 does not answer within 50ms") {
		t.Errorf("%v, and the step's own time: %v", err, ctx.Err())
	}
	if made := cutOver.New().(*cutover); made.answers != answerTime {
		t.Errorf("a step waits %v", made.answers)
	}
}
