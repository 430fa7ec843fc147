package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/advise/memory"
)

// memoryResult is what came out of a case, as it is kept. Reads are pages for an operation.
type memoryResult struct {
	Server    string        `json:"server"`
	Case      string        `json:"case"`
	Pool      int64         `json:"pool_bytes"`
	Now       float64       `json:"now"`
	Lists     int           `json:"lists"`
	Turnovers float64       `json:"turnovers"` // of the pool while it was looked at
	Points    []memoryPoint `json:"points"`
	Knee      *memoryKnee   `json:"knee,omitempty"`

	Filled []memoryWarmth `json:"filled,omitempty"` // after the pool was resized under the load
}

// memoryPoint is another size of the pool: what came, what was predicted, and what others would have guessed.
type memoryPoint struct {
	Times     float64 `json:"times"` // today's pool
	Truth     float64 `json:"truth"`
	Pages     int64   `json:"pages"`          // read for that figure
	Cold      bool    `json:"cold,omitempty"` // measured before the pool held what the load asks for
	Predicted float64 `json:"predicted"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Doubt     string  `json:"doubt,omitempty"`
	Model     float64 `json:"model"`
	Power     float64 `json:"power"`
	Linear    float64 `json:"linear"`
	OneSize   float64 `json:"one_size"`
}

// memoryKnee is where reads were predicted to fall under a twentieth of today's, and what part of these was left a tenth below and above.
type memoryKnee struct {
	Times float64 `json:"times"`
	Below float64 `json:"below"`
	Above float64 `json:"above"`
}

// found tells that the knee is within a tenth of where it was predicted.
func (k memoryKnee) found() bool { return k.Below >= memory.KneeShare && k.Above <= memory.KneeShare }

func (o *memoryOutcome) result() memoryResult {
	r := memoryResult{
		Server: o.product, Case: o.name, Pool: o.pool, Now: o.now.each(), Lists: len(o.looked.Intervals) + 1, Turnovers: o.now.turnovers(), Filled: o.filled,
	}
	held, requests, reads := 0.0, 0.0, 0.0
	for _, i := range o.looked.Intervals {
		held += i.Pages / float64(len(o.looked.Intervals))
		requests += float64(i.Counts.Requests)
		reads += float64(i.Counts.Read)
	}
	data := float64(o.looked.DataPages())
	for _, times := range o.sizes {
		p, _ := o.at(times)
		t := o.truth[times]
		r.Points = append(r.Points, memoryPoint{
			Times: times, Truth: t.each(), Pages: t.reads, Cold: o.cold[times],
			Predicted: o.perOp(p.Reads), Low: o.perOp(p.Low), High: o.perOp(p.High), Doubt: p.Doubt, Model: o.perOp(p.Model),
			Power:   r.Now / p.Times,
			Linear:  r.Now * max(data/held-p.Times, 0) / (data/held - 1),
			OneSize: r.Now * memory.FromOneSize(requests, reads, held, data, p.Times),
		})
	}
	if beside := o.besideTheKnee(); beside != nil {
		r.Knee = &memoryKnee{float64(o.curve.Knee) / float64(o.pool), o.truth[beside[0]].each() / r.Now, o.truth[beside[1]].each() / r.Now}
	}
	return r
}

// results keeps what came out, so that a case can be measured again by itself.
type results string

func (dir results) path(c memoryCase) string {
	return filepath.Join(string(dir), "memory-"+c.product+"-"+strings.NewReplacer(" ", "-", ",", "").Replace(c.name)+".json")
}

func (dir results) keep(c memoryCase, r memoryResult) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("keep %s on %s: %w", c.name, c.product, err)
	}
	if err := os.MkdirAll(string(dir), 0o750); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return os.WriteFile(dir.path(c), append(data, '\n'), 0o600)
}

// read returns what is kept of a case; nil: nothing.
func (dir results) read(c memoryCase) (*memoryResult, error) {
	data, err := os.ReadFile(dir.path(c))
	if os.IsNotExist(err) {
		return nil, nil
	}
	r := &memoryResult{}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir.path(c), err)
	}
	return r, nil
}
