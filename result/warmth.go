package result

import "time"

// Warmth is what a change left in a node's memory, and how long it took until the node was warm again.
type Warmth struct {
	Node string `json:"node"`
	Role string `json:"role"` // primary or replica, after the change
	// Before and After are how many pages of the data set were in its memory: just before the change, and at least while it was
	// made, since it came back if it was away. Of a node that was not there before, Before is what the others had at most.
	Before int64   `json:"pages_before"`
	After  int64   `json:"pages_after"`
	Share  float64 `json:"share"`  // after of before, at most 1
	Misses float64 `json:"misses"` // pages that it read from disk between then and the next change
	Asked  bool    `json:"asked"`  // somebody asked it for pages in that time
	// Warm is how long after that its miss share was back where it had been, within a percent of what is
	// asked for, and stayed there for three seconds; nil when it was not, or when nobody asked.
	Warm *time.Duration `json:"warm_after_ns"`

	Since time.Time `json:"-"` // of After
}
