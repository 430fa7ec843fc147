package result

import "time"

// Shown is what a signal of a node did in a phase, of those that expectations name.
type Shown struct {
	Signal   string        `json:"signal"`
	Node     string        `json:"node"`
	Unit     string        `json:"unit"` // seconds, bytes, share, ms, ms_per_second, per_second, bytes_per_second; "" when its name has none
	Lowest   float64       `json:"lowest"`
	Mean     float64       `json:"mean"`
	Highest  float64       `json:"highest"`
	Last     float64       `json:"last"`
	Readings int           `json:"readings"`
	Silent   time.Duration `json:"silent_ns"` // the longest time without a reading, from when the signal first was shown
}

// Silence is how long a signal, which is read once a second, may show nothing. A longer time may hide what an expectation
// asks for.
const Silence = 5 * time.Second
