package access

import (
	"sync"
	"time"
)

// mostAddresses are remembered: nobody fills the memory with addresses.
const mostAddresses = 10_000

// once tells the first request of an address from those after it.
type once struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (o *once) first(address string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen[address] {
		return false
	}
	if o.seen == nil || len(o.seen) >= mostAddresses {
		o.seen = map[string]bool{}
	}
	o.seen[address] = true
	return true
}

// pace limits how often somebody may try to enter: a few times at once, then once in a while.
type pace struct {
	now   func() time.Time
	every time.Duration
	burst int

	mu   sync.Mutex
	left map[string]allowance
}

type allowance struct {
	tries float64
	at    time.Time
}

// take uses one try of an address, and tells whether there was one.
func (p *pace) take(address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.left == nil || len(p.left) > mostAddresses {
		p.left = map[string]allowance{}
	}
	a, known := p.left[address]
	if !known {
		a = allowance{float64(p.burst), now}
	}
	a.tries = min(float64(p.burst), a.tries+float64(now.Sub(a.at))/float64(p.every))
	a.at = now
	ok := a.tries >= 1
	if ok {
		a.tries--
	}
	p.left[address] = a
	return ok
}

// give returns a try that was right.
func (p *pace) give(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.left[address]
	a.tries++
	p.left[address] = a
}
