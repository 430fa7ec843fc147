// Package result holds what a result folder contains: it writes one while a trial runs, and reads one on a machine that has no lab.
package result

import (
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
)

// Result is what a trial left behind, as its folder holds it. One that was interrupted is Partial.
type Result struct {
	Dir         string
	Source      string // trial.yaml as resolved
	Environment Environment
	Events      []series.Event
	Seconds     []Row // series.csv
	Signals     []series.Point
	Verdict     Verdict
}

// Row is one line of series.csv, and Latency its percentiles.
type (
	Row     = series.Row
	Latency = series.Latency
)

// Environment is environment.json: all that a reader needs to judge or repeat the result.
type Environment struct {
	Plimsoll string            `json:"plimsoll"` // version
	Started  time.Time         `json:"started"`
	Ended    time.Time         `json:"ended"`
	Seed     uint64            `json:"seed"`
	Engine   map[string]string `json:"engine"` // product, version, origin
	Host     map[string]string `json:"host"`   // os, kernel, cpu, cores, memory, filesystem
	Settings []Setting         `json:"settings"`
	Command  []string          `json:"command"` // as typed, secrets removed
}

// Setting is one configuration value of one cell, as written and as the server showed it afterwards.
type Setting struct {
	Cell  string `json:"cell,omitempty"`
	Node  string `json:"node,omitempty"`
	Name  string `json:"name"`
	Wrote string `json:"wrote"`
	Shown string `json:"shown"`
}

// Verdict is verdict.json. Its first three keys and those of a claim are a promise to other programs.
type Verdict struct {
	Verdict analyze.Answer `json:"verdict"`
	Reasons []string       `json:"reasons"`
	// ReasonsOfClaims is how many of the reasons, the last, say again what the claims say.
	ReasonsOfClaims int                   `json:"reasons_of_claims,omitempty"`
	Advice          []string              `json:"advice,omitempty"` // of an INVALID one: what to do before it is measured again
	Claims          []analyze.JudgedClaim `json:"claims"`
	Trial           string                `json:"trial"`
	Question        string                `json:"question"`
	Partial         bool                  `json:"partial,omitempty"`           // interrupted: what there is was kept
	Ended           *Ended                `json:"ended,omitempty"`             // of a trial that did not come to its end: how
	ChangeFailed    string                `json:"change_failed,omitempty"`     // of a FAIL that the change itself brought: its run did not come to a good end, or was not refused as the trial expects
	Unchanged       bool                  `json:"unchanged,omitempty"`         // of an INVALID one whose change had nothing to do: repeated, it would find the same
	OneRound        bool                  `json:"one_round,omitempty"`         // it asked to be judged by a single round: whether rounds agree was not seen
	FactOfOneRound  bool                  `json:"fact_of_one_round,omitempty"` // of a FAIL that nobody asked a single round for: what is known exactly broke its expectations in one
	Cells           []Cell                `json:"cells"`
	Phases          []Phase               `json:"phases,omitempty"`
	Signals         []SignalDifference    `json:"signals,omitempty"` // of a comparison of variants: each signal's mean, the variants' beside the control's
	Notes           []string              `json:"notes,omitempty"`   // what a reader should know: warm-up timed out, an expectation was not judged
	Watched         *Watched              `json:"watched,omitempty"` // set where a watch recorded it: there was no trial, nothing was judged, and the verdict says nothing
}

// Watched is whose period a watch recorded.
type Watched struct {
	Cluster   string   `json:"cluster"`
	Instances []string `json:"instances"`
}

// Ended is why a trial ended before its end.
type Ended struct {
	How   How    `json:"how"`
	Where string `json:"where,omitempty"` // cell, round and phase
	Why   string `json:"why,omitempty"`
	Do    string `json:"do,omitempty"` // what to do about it
	// Unmeasured says that it was before any load, or in a warm-up, which is not judged: there are no figures.
	Unmeasured bool `json:"unmeasured,omitempty"`
}

// How is the way in which a trial ended early.
type How string

// The ways.
const (
	Interrupted How = "interrupted"   // by a person
	CouldNotRun How = "could_not_run" // something that it needs was missing or wrong
	Died        How = "died"          // its process was killed before it judged, which nobody could write: only readers say so
	Goes        How = "running"       // it has not ended: only readers say so
)

// Cell is one combination of a comparison, with what was measured in it; a trial that compares nothing has one, nameless.
type Cell struct {
	Name    string            `json:"name"`
	Variant string            `json:"variant,omitempty"`
	Control bool              `json:"control,omitempty"` // the first variant
	Factors map[string]string `json:"factors,omitempty"` // numeric levels draw the x axis of a curve: connections
	Rounds  int               `json:"rounds"`
	Tally   series.Tally      `json:"tally"`
	Writes  *Writes           `json:"writes,omitempty"` // of a ledger, if one was kept
	Figures []Figure          `json:"figures"`
}

// Figure is one metric of a cell or phase with its interval.
type Figure struct {
	Metric    string           `json:"metric"`              // throughput, response_p50, response_p95, response_p99, response_p999, service_p99, errors
	Operation string           `json:"operation,omitempty"` // "" is all
	Unit      string           `json:"unit"`                // per_second, ms, count
	Estimate  analyze.Estimate `json:"estimate"`
	// Ratio to the control's cell with the same factors, judged on paired rounds; nil for the control and where there is none.
	Ratio *analyze.Estimate `json:"ratio,omitempty"`
}

// Phase is a named period of a trial's cell and round.
type Phase struct {
	Name    string    `json:"name"`
	Of      string    `json:"of,omitempty"` // of a step: the phase that it is a part of
	Cell    string    `json:"cell,omitempty"`
	Round   int       `json:"round"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Figures []Figure  `json:"figures,omitempty"`
	// For a disturbance, against the baseline; nil otherwise.
	Impact *analyze.Impact `json:"impact,omitempty"`
	// Each period in which it was felt, in the order of time.
	Dips []Dip `json:"dips,omitempty"`
	// For a disturbance, what it left of the nodes' memory; the primary first.
	Warmth []Warmth `json:"warmth,omitempty"`
	// Of the signals that expectations name.
	Signals []Shown `json:"signals,omitempty"`
}
