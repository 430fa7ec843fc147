package superdisk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/poll"
)

const (
	probeEvery  = 50 * time.Millisecond
	probeWindow = 5 * time.Second
	calmFor     = 10 * time.Second
)

// probe asks a database the same question again and again and keeps how long each answer took. A question is due every
// probeEvery; one that comes late counts from when it was due.
type probe struct {
	mu     sync.Mutex
	took   []answer
	failed error // of the last question
	cancel context.CancelFunc
	ended  chan struct{}
}

type answer struct {
	at   time.Time
	took time.Duration
}

func startProbe(ctx context.Context, on *cluster.Cluster, node, question string) (*probe, error) {
	db, err := on.Database(ctx, node)
	if err != nil {
		return nil, fmt.Errorf("measure the service: %w", err)
	}
	session, err := db.Session(ctx)
	if err != nil {
		return nil, fmt.Errorf("measure the service: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &probe{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		defer func() { _ = session.Close() }()
		p.ask(ctx, session, question)
	}()
	return p, nil
}

func (p *probe) ask(ctx context.Context, s engine.Session, question string) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	due := time.Now()
	for {
		err := s.Exec(ctx, question, nil)
		now := time.Now()
		p.mu.Lock()
		p.failed = err
		if err == nil {
			p.took = append(p.took, answer{now, now.Sub(due)})
			p.took = slices.DeleteFunc(p.took, func(a answer) bool { return now.Sub(a.at) > calmFor })
		}
		p.mu.Unlock()
		select {
		case due = <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// p99 is that of the last few seconds.
func (p *probe) p99(context.Context) (time.Duration, error) { return p.within(probeWindow) }

func (p *probe) within(window time.Duration) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return 0, fmt.Errorf("ask the database: %w", p.failed)
	}
	var recent []time.Duration
	for _, a := range p.took {
		if time.Since(a.at) <= window {
			recent = append(recent, a.took)
		}
	}
	if len(recent) < 5 {
		return 0, errors.New("the database answered too few queries")
	}
	slices.Sort(recent)
	return recent[len(recent)*99/100], nil
}

// calm is the p99 before anything is copied.
func (p *probe) calm(ctx context.Context) (time.Duration, error) {
	if cause := poll.Rest(ctx, calmFor); cause != nil {
		return 0, cause
	}
	return p.within(calmFor)
}

func (p *probe) stop() {
	p.cancel()
	<-p.ended
}
