package run

import (
	"context"
	"time"

	"plimsoll/engine"
	"plimsoll/series"
	"plimsoll/trial/judge"
)

// promotions are the moments at which members of a ring went from joining to normal, each as the period between two looks.
type promotions struct {
	joining map[string]time.Time // by host id: when each was last seen to join
	taken   []judge.Span
}

// ringEvery is how often a ring is looked at while a change is made.
const ringEvery = 500 * time.Millisecond

// take books what a look showed that began and ended at some time, and returns the addresses of who took their ranges.
func (p *promotions) take(ring engine.Ring, began, ended time.Time) []string {
	var taken []string
	for _, m := range ring.Members {
		switch m.Part {
		case engine.Joining, engine.Replacing:
			if p.joining == nil {
				p.joining = map[string]time.Time{}
			}
			p.joining[m.Host] = began
		case engine.Normal:
			if from, joined := p.joining[m.Host]; joined {
				p.taken = append(p.taken, judge.Span{Key: judge.Promotion, From: from, To: ended})
				taken = append(taken, m.Address)
				delete(p.joining, m.Host)
			}
		case engine.Leaving, engine.Moving:
		}
	}
	return taken
}

// promoting watches a ring for nodes that take their ranges until stop is called, which returns when. No other engine has any.
func (d *cellRun) promoting(ctx context.Context) (stop func() []judge.Span) {
	ring, is := engine.As[engine.Ringed](d.db)
	if !is {
		return func() []judge.Span { return nil }
	}
	looking, end := context.WithCancel(ctx)
	var p promotions
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(ringEvery)
		defer tick.Stop()
		for {
			began := time.Now()
			if seen, err := ring.Ring(looking, ""); err == nil { // a look that failed is made again
				for _, node := range p.take(seen, began, time.Now()) {
					d.happened(series.Event{Kind: series.RingPromoted, Node: node, Cell: d.cell.Name, Round: d.round})
				}
			}
			select {
			case <-tick.C:
			case <-looking.Done():
				return
			}
		}
	}()
	return func() []judge.Span {
		end()
		<-ended
		return p.taken
	}
}
