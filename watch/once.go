package watch

import "sync"

// once tells apart the first word of a change of a cluster from that of the other nodes, which see the same later. Its method is safe for
// concurrent use.
type once struct {
	mu   sync.Mutex
	last map[string]string // what something was changed to, by cluster, kind and name
}

// again tells whether a change of a cluster leads to what was told last.
func (o *once) again(c Change) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[string]string{}
	}
	key := c.Instance + "\x00" + c.Kind + "\x00" + c.What
	to, known := o.last[key]
	o.last[key] = c.To
	return known && to == c.To
}
