package foresee

import (
	"slices"

	"plimsoll/trial/expect"
	"plimsoll/trial/spec"
)

// OfRate says of expectations on the throughput of a load with a rate that it is what was asked for, where nothing is changed that the
// database might not keep up with.
func OfRate(t *spec.Trial) []Foreseen {
	expected := slices.ContainsFunc(t.Expectations, func(c expect.Comparison) bool {
		return slices.ContainsFunc(c.Metrics, func(m expect.Metric) bool { return m.Name == "throughput" })
	})
	changed := slices.ContainsFunc(t.Timeline, func(s spec.Step) bool { return s.Call != nil })
	free := slices.ContainsFunc(t.Cells, func(c *spec.Cell) bool { return !c.Load.Open() })
	if !expected || changed || free {
		return nil
	}
	return []Foreseen{{
		Of: "expectation on throughput", Why: "with rate, the load executes exactly as many operations as you asked for, so throughput tells nothing unless the database cannot keep up",
		Do: "expect p99(response) or errors; or remove rate, so that throughput shows what the database can do",
	}}
}
