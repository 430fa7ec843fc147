package report

import (
	"fmt"
	"io"
	"math"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/report/quantity"
)

// Versus writes two results side by side for a terminal: a table per cell and phase, and what the data supports.
func Versus(w io.Writer, v *result.Versus, on Terminal) error {
	t := newText(on)
	t.linef("")
	t.wrap(t.Bold.Render("first "), "  ", v.First)
	t.wrap(t.Bold.Render("second"), "  ", v.Second)
	t.linef("")
	if text := invalid(v.Invalid); text != "" {
		t.wrap("", "", t.Bold.Render(text))
		t.linef("")
	}
	var differ int
	for from := 0; from < len(v.Differences); {
		to := from
		for to < len(v.Differences) && place(v.Differences[to]) == place(v.Differences[from]) {
			if v.Differences[to].Differs {
				differ++
			}
			to++
		}
		t.table(differences(v.Differences[from:to]))
		from = to
	}
	t.wrap("", "", t.Bold.Render(supported(differ, len(v.Differences)))+" "+
		"The change is second against first, with its interval; ≈ is a difference that the data cannot distinguish from zero.")
	for _, n := range v.Notes {
		t.wrap(t.Dim.Render("note"), "  ", n)
	}
	return t.flush(w)
}

// invalid says of two results whose measurements are not valid that their numbers answer nothing; "" if both are.
func invalid(results []string) string {
	switch len(results) {
	case 0:
		return ""
	case 1:
		return results[0] + " is INVALID: its numbers do not show whether the two differ. Its report says why."
	}
	return "Both results are INVALID: their numbers do not show whether the two differ. Their reports say why."
}

func supported(differ, all int) string {
	switch differ {
	case 0:
		return fmt.Sprintf("The data shows no difference in any of %d numbers.", all)
	case 1:
		return fmt.Sprintf("1 of %d numbers differs.", all)
	default:
		return fmt.Sprintf("%d of %d numbers differ.", differ, all)
	}
}

// place is where a number was measured: cell, phase and operation.
func place(d result.Difference) [3]string { return [3]string{d.Cell, d.Phase, d.Operation} }

// differences is the table of one place.
func differences(of []result.Difference) table {
	corner := of[0].Phase
	if of[0].Operation != "" {
		corner += ", " + of[0].Operation
	}
	t := table{Title: of[0].Cell, Corner: corner, Columns: []string{"first", "second", "change", "interval"}}
	for _, d := range of {
		unit := quantity.Unit(d.Unit)
		change, interval := entry{Value: quantity.Change(d.Ratio.Estimate), Tone: changeTone(d)}, ""
		if judged(d.Ratio) {
			if !d.Differs {
				change.Value = "≈ " + change.Value
			}
			if interval = quantity.Change(d.Ratio.Low) + " to " + quantity.Change(d.Ratio.High); boundless(d.Ratio) {
				interval = "not known: too little was measured"
			}
		}
		t.Rows = append(t.Rows, line{Head: called(d.Metric), Ink: -1, Cells: []entry{
			{Value: unit.Format(d.First.Value)}, {Value: unit.Format(d.Second.Value)}, change, {Value: interval},
		}})
	}
	return t
}

// boundless tells an interval that holds any change that there could be: nobody is told by it what the data says.
func boundless(ratio analyze.JudgedClaim) bool {
	return math.IsInf(ratio.High-ratio.Low, 0) || math.IsNaN(ratio.High-ratio.Low) || ratio.Low < 1/quantity.FarOff && ratio.High > quantity.FarOff
}

func changeTone(d result.Difference) tone {
	if !d.Differs {
		return same
	}
	return toneOf(d.Metric, &analyze.Estimate{Value: d.Ratio.Estimate, Low: d.Ratio.Low, High: d.Ratio.High})
}
