package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

type finding struct {
	Round  int       `json:"round"`
	At     time.Time `json:"at"`
	What   string    `json:"what"`
	Detail string    `json:"detail"`
}

// result is what an attack found, as it is kept.
type result struct {
	Product      string                    `json:"product"`
	Version      string                    `json:"version"`
	Plimsoll     string                    `json:"plimsoll"`
	Seed         uint64                    `json:"seed"`
	Began        time.Time                 `json:"began"`
	Minutes      int                       `json:"minutes"`
	Rounds       int                       `json:"rounds"`
	Kills        map[string]map[string]int `json:"kills"` // by what was killed: act, resume, undo, cancel; and by runbook
	Outcomes     map[string]int            `json:"outcomes"`
	Acknowledged int                       `json:"acknowledged"`
	WithPrimary  int                       `json:"lost_with_a_dead_primary"` // acknowledged rows, which is documented
	Anew         int                       `json:"made_anew"`                // servers that had transactions of their own, and were replaced
	Advised      int                       `json:"advised"`                  // commands that were printed, and are valid
	Findings     []finding                 `json:"findings"`
}

func newResult(product string, seed uint64) result {
	return result{Product: product, Seed: seed, Began: time.Now().UTC(), Kills: map[string]map[string]int{}, Outcomes: map[string]int{}, Findings: []finding{}}
}

func (r result) kills() (n int) {
	for _, books := range r.Kills {
		for _, k := range books {
			n += k
		}
	}
	return n
}

func (r result) write(file string) error {
	if file == "" {
		return nil
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// table is the result for people.
func (r result) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, seed %d: %d kills in %d rounds and %d minutes\n", r.Product, r.Version, r.Seed, r.kills(), r.Rounds, r.Minutes)
	for _, kind := range slices.Sorted(maps.Keys(r.Kills)) {
		total := 0
		for _, n := range r.Kills[kind] {
			total += n
		}
		fmt.Fprintf(&b, "  killed in %-32s %4d  ", kind, total)
		for _, book := range slices.Sorted(maps.Keys(r.Kills[kind])) {
			fmt.Fprintf(&b, " %s %d", book, r.Kills[kind][book])
		}
		fmt.Fprintln(&b)
	}
	for _, o := range slices.Sorted(maps.Keys(r.Outcomes)) {
		fmt.Fprintf(&b, "  runs that ended %-26s %4d\n", o, r.Outcomes[o])
	}
	fmt.Fprintf(&b, "  acknowledged rows %d, lost with a dead primary %d; printed commands %d; findings %d\n", r.Acknowledged, r.WithPrimary, r.Advised, len(r.Findings))
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "  FINDING in round %d: %s\n    %s\n", f.Round, f.What, strings.ReplaceAll(f.Detail, "\n", "\n    "))
	}
	return b.String()
}
