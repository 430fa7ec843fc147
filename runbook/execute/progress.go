package execute

import (
	"sync"
	"time"
)

// progress is how far an act says it is.
type progress struct {
	began time.Time

	mu    sync.Mutex
	share float64 // never less than it was; -1: it does not say
	text  string
	first float64 // the share that it said first,
	since time.Time
}

func (p *progress) tell(share float64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share, p.text = max(p.share, share), text
	if p.since.IsZero() && share > 0 {
		p.first, p.since = share, time.Now()
	}
}

func (p *progress) now() (float64, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.share, p.text
}

// What an act must have done since it first said how far it is, and how long that must have taken, for its pace to count.
const (
	paceShare = 0.05
	paceTime  = 3 * time.Second
)

// left is how long it will go on at the pace that it has had; zero: that is not known.
func (p *progress) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	moved, took := p.share-p.first, time.Since(p.since)
	if p.since.IsZero() || moved < paceShare || took < paceTime {
		return 0
	}
	return time.Duration((1 - p.share) / moved * float64(took))
}
