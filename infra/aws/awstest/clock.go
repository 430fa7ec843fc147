package awstest

import (
	"sync"
	"time"
)

// clock is that of a stand-in.
type clock struct {
	turn  sync.Mutex
	ahead time.Duration
}

// Pass lets time pass at once.
func (c *clock) Pass(d time.Duration) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.ahead += d
}

func (c *clock) now() time.Time {
	c.turn.Lock()
	defer c.turn.Unlock()
	return time.Now().Add(c.ahead)
}
