package bufferpool

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/hint"
)

// counters are what a server has counted since it was started.
type counters struct {
	requests float64 // pages that statements asked for
	misses   float64 // of them, those that had to be read from disk
	ahead    float64 // pages that the server read because it expected that they would be asked for
}

// read is how many pages were read from disk.
func (c counters) read() float64 { return c.misses + c.ahead }

// count reads them. While a pool is being loaded, its pages count as misses too.
func count(ctx context.Context, s engine.Session) (counters, error) {
	r, err := query(ctx, s, `SHOW GLOBAL STATUS WHERE Variable_name IN
		('Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads', 'Innodb_buffer_pool_read_ahead')`)
	if err != nil {
		return counters{}, err
	}
	if r.Rows != 3 {
		return counters{}, &hint.PermanentError{Reason: "the server does not count what its buffer pool reads"}
	}
	var c counters
	for n := range r.Rows {
		name := string(r.At(n, 0).Data)
		into := map[string]*float64{
			"Innodb_buffer_pool_read_requests": &c.requests, "Innodb_buffer_pool_reads": &c.misses, "Innodb_buffer_pool_read_ahead": &c.ahead,
		}[name]
		if *into, err = real(r.At(n, 1)); err != nil {
			return c, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return c, nil
}
