package advise

import "time"

// Caches is the result of observing the caches of a ring: what they hold and answer. How they would do with another size is not known.
type Caches struct {
	Cluster string        `json:"cluster"`
	At      time.Time     `json:"at"`
	Looked  time.Duration `json:"looked_ns"`
	Caches  []Cache       `json:"caches"`
	Notes   []string      `json:"notes"`
}

// Cache is one cache of a node.
type Cache struct {
	Node     string  `json:"node"`
	Name     string  `json:"name"`
	Setting  string  `json:"setting,omitempty"` // that sizes it
	Capacity int64   `json:"capacity"`          // bytes; 0: it is off
	Size     int64   `json:"size"`              // bytes that it holds
	Requests float64 `json:"requests"`          // a second, while it was looked at
	HitRatio float64 `json:"hit_ratio"`         // of these; 0 without requests
	Missed   float64 `json:"missed"`            // requests a second that it did not answer: no larger cache could save more
	Means    string  `json:"means"`             // what that says of another size
}
