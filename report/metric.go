package report

import (
	"cmp"
	"math"
	"strings"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/report/quantity"
)

// called is how a metric of verdict.json is called in a sentence: "p99.9 response" for response_p999, "mean response" for response_mean.
func called(metric string) string {
	for _, of := range []string{"mean", "max"} {
		if kind, is := strings.CutSuffix(metric, "_"+of); is {
			return of + " " + kind
		}
	}
	kind, quantile, ok := strings.Cut(metric, "_p")
	if !ok || strings.Trim(quantile, "0123456789") != "" { // such as mysql.watch_paused
		return strings.ReplaceAll(metric, "_", " ")
	}
	if len(quantile) == 3 {
		quantile = quantile[:2] + "." + quantile[2:]
	}
	return "p" + quantile + " " + kind
}

// heading is that at the beginning of a line.
func heading(metric string) string {
	t := called(metric)
	if strings.HasPrefix(t, "p") && len(t) > 1 && t[1] >= '0' && t[1] <= '9' {
		return t
	}
	return strings.ToUpper(t[:1]) + t[1:]
}

// better tells whether a ratio above 1 is good news (1), bad news (-1) or neither.
func better(metric string) int {
	switch {
	case metric == "throughput":
		return 1
	case strings.HasPrefix(metric, "response_"), strings.HasPrefix(metric, "service_"), metric == "errors", metric == "error_share":
		return -1
	}
	return 0
}

// find looks for a metric of an operation; "" is all operations together, and so is the name that series.csv has for it.
func find(figures []result.Figure, metric, operation string) (result.Figure, bool) {
	for _, f := range figures {
		if f.Metric == metric && cmp.Or(f.Operation, everything) == cmp.Or(operation, everything) {
			return f, true
		}
	}
	return result.Figure{}, false
}

// everything is the operation of series.csv that counts all of them.
const everything = "all"

// write is a figure's value and ± its interval in percent of it; the latter is empty where it says nothing.
func write(f result.Figure) (value, spread string) {
	unit := quantity.Unit(f.Unit)
	if unit == quantity.PerSecond {
		unit = quantity.Plain // the table's title says so
	}
	return writeEstimate(unit, f.Estimate)
}

func writeEstimate(unit quantity.Unit, e analyze.Estimate) (value, spread string) {
	if e.High > e.Low && !math.IsInf(e.High-e.Low, 0) {
		_, spread = unit.PlusMinus(e.Value, e.Low, e.High)
	}
	return unit.Format(e.Value), spread
}

// tone is what a ratio to the control is: better, worse, or same if its interval holds 1. Without an interval it has none.
type tone string

const (
	good  tone = "better"
	worse tone = "worse"
	same  tone = "same"
)

func toneOf(metric string, ratio *analyze.Estimate) tone {
	switch {
	case ratio == nil || better(metric) == 0:
		return ""
	case ratio.Low <= 1 && ratio.High >= 1:
		return same
	case (ratio.Value > 1) == (better(metric) > 0):
		return good
	default:
		return worse
	}
}
