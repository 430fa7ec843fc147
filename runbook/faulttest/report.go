package faulttest

import (
	"slices"
	"sync"
	"time"
)

// Trouble is one fault that a runbook did not withstand.
type Trouble struct {
	Test string `json:"test"`
	Step string `json:"step,omitempty"`
	Text string `json:"text"`
}

// Report is the report of a torture.
type Report struct {
	Runbook  string        `json:"runbook"`
	Hash     string        `json:"hash"` // of the runbook's text
	Product  string        `json:"product,omitempty"`
	Version  string        `json:"version,omitempty"`
	Topology string        `json:"topology,omitempty"`
	Steps    int           `json:"steps"` // as planned, each target's counted
	Tries    int           `json:"tries"`
	Kinds    []string      `json:"kinds,omitempty"`             // of tries, if not all were made
	Undos    int           `json:"undo_kills,omitempty"`        // how many times the process that undid the run was killed
	Chosen   bool          `json:"undo_kills_chosen,omitempty"` // those were at some writes of an undo, not at each
	Looks    int           `json:"looks,omitempty"`             // how many times the cluster itself was looked at when a run had ended
	Restored int           `json:"restored"`                    // how many times the lab was brought back to where it began
	Resumed  time.Duration `json:"resumed_ns"`                  // the longest from the start of the process that goes on to what it writes first
	Slept    time.Duration `json:"slept_ns,omitempty"`          // how long its owner slept; 0: there is no lock that could be taken from it
	Took     time.Duration `json:"took_ns"`                     // all of it
	Asks     []string      `json:"asks,omitempty"`              // steps that stop for a person when they are cut off: declared so
	Stays    []string      `json:"stays,omitempty"`             // steps that cannot be taken back: declared so
	Untried  []string      `json:"untried,omitempty"`           // steps that never acted, for there was nothing for them to do
	Troubles []Trouble     `json:"troubles,omitempty"`          // empty: it withstood every fault

	again *sync.Map // keys of steps that failed when they were done a second time; nil: none was
}

// trouble notes what was not stood.
func (o *Report) trouble(test, step, text string) {
	o.Troubles = append(o.Troubles, Trouble{test, step, text})
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
