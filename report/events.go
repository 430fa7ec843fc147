package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/series"
)

// shownOtherwise tells the events that are shown in another way too: errors, of which there is one a second while there are any and a
// chart marks those seconds, and the beginning and end of changes, which are phases.
func shownOtherwise(e series.Event) bool {
	return e.Kind == series.LoadErrors || e.Kind.Group() == series.OfChanges
}

// condense makes one event of the errors of seconds that follow each other, with their sum.
func condense(events []series.Event) []series.Event {
	var out []series.Event
	last, seconds := -1, 0
	for _, e := range events {
		if e.Kind != series.LoadErrors {
			out = append(out, e)
			continue
		}
		if last >= 0 && e.Time.Sub(out[last].Time) <= time.Duration(seconds+1)*time.Second {
			seconds++
			out[last].Detail = sum(out[last].Detail, e.Detail)
			out[last].Detail["seconds"] = seconds
			continue
		}
		last, seconds = len(out), 1
		e.Detail = maps.Clone(e.Detail)
		out = append(out, e)
	}
	return out
}

// sum adds the numbers of two details; as JSON has them, all are float64.
func sum(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for k, v := range b {
		if x, y := number64(out[k]), number64(v); x+y != 0 {
			out[k] = x + y
		}
	}
	return out
}

func number64(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case int:
		return float64(v)
	}
	return 0
}

// moments marks events; more than a reader can tell apart are left to the table.
func moments(events []series.Event, start time.Time) []chart.Mark {
	const most = 40
	var all []chart.Mark
	for _, e := range events {
		if !shownOtherwise(e) && len(all) < most {
			all = append(all, chart.Mark{At: e.Time.Sub(start).Seconds(), Name: eventName(e)})
		}
	}
	return all
}

// eventTable lists what happened; past the most that are wanted, it says how many more there are.
func eventTable(events []series.Event, start time.Time, most int) table {
	t := table{Title: "What happened", Words: true, Corner: "at", Columns: []string{"what", "node", "detail"}}
	for i, e := range events {
		if i == most {
			t.Note = fmt.Sprintf("%d more events are in events.jsonl.", len(events)-most)
			break
		}
		t.Rows = append(t.Rows, line{
			Head: quantity.Elapsed.Format(e.Time.Sub(start).Seconds()), Ink: -1,
			Cells: plainEntries(withName(e.Kind.Words(), e.Name), e.Node, detailsOf(e)),
		})
	}
	return t
}

// eventName is an event in a few words.
func eventName(e series.Event) string { return withName(atNode(e.Kind, e.Node), e.Name) }

func withName(words, name string) string {
	if name == "" {
		return words
	}
	return words + ": " + name
}

// atNode says what happened to a node: "node1 was frozen", "connections of the load were lost, node1".
func atNode(kind series.EventKind, node string) string {
	words := kind.Words()
	if node == "" {
		return words
	}
	if did, is := strings.CutPrefix(words, "server "); is {
		return node + " " + did
	}
	return words + ", " + node
}

// cause is what a dip began with, as verdict.json has it: a step, or the kind of an event with its node.
func cause(during string) (words string, event bool) {
	kind, node, _ := strings.Cut(during, " ")
	if series.EventKind(kind).Group() == "" {
		return during, false
	}
	return atNode(series.EventKind(kind), node), true
}

func join(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

// labels are the words for details whose keys in events.jsonl do not read as words.
var labels = map[string]string{"in_doubt": "unacknowledged", "in_doubt_found": "of which present", "nothing": "does not count:"}

// detailsOf are an event's details. The end of a change or of a step has its own time, which is not that of its phase.
func detailsOf(e series.Event) string {
	switch {
	case e.Kind == series.NoiseChecked:
		return foreseen(e.Detail)
	case (e.Kind == series.ChangeEnd || e.Kind == series.StepEnd) && number64(e.Detail["seconds"]) > 0:
		return "took " + details(e.Detail)
	}
	return details(e.Detail)
}

// foreseen says from which change on a trial can show one: "throughput by 6.0 % or more, p99 by ×17.6 or more, judging by 10 s of its load".
func foreseen(d map[string]any) string {
	var parts []string
	for _, metric := range []string{"throughput", "p99"} {
		if percent, known := d[metric+"_percent"]; known {
			parts = append(parts, metric+" by "+quantity.Smallest(number64(percent)/100)+" or more")
		}
	}
	if took := number64(d["seconds"]); took > 0 {
		parts = append(parts, "judging by "+quantity.Duration(time.Duration(took*float64(time.Second)))+" of its load")
	}
	return strings.Join(parts, ", ")
}

func details(d map[string]any) string {
	var parts []string
	_, neither := d["nothing"]
	why, hasWhy := d["why"].(string)
	do, hasDo := d["do"].(string)
	if hasWhy && hasDo { // a problem and its advice are sentences
		return why + "; to do: " + do
	}
	for _, k := range slices.Sorted(maps.Keys(d)) {
		if k == "passed" && neither { // a rehearsal that does not count neither passed nor failed
			continue
		}
		if passed, is := d[k].(bool); is && k == "passed" {
			parts = append(parts, map[bool]string{true: "passed", false: "did not pass"}[passed])
			continue
		}
		if took := number64(d[k]); k == "seconds" && took > 0 {
			parts = slices.Insert(parts, 0, quantity.Duration(time.Duration(took*float64(time.Second))))
			continue
		}
		value := fmt.Sprint(d[k])
		if f, ok := d[k].(float64); ok {
			value = quantity.Plain.Format(f)
		}
		label := labels[k]
		if label == "" {
			label = strings.ReplaceAll(k, "_", " ")
		}
		parts = append(parts, label+" "+value)
	}
	return strings.Join(parts, ", ")
}
