package judge

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/expect"
	"plimsoll/trial/spec"

	"plimsoll/internal/document"
)

// loads are those of two results.
type loads struct{ first, second loadText }

// loadText is a load as a result's trial.yaml has it.
type loadText struct {
	keys    []string
	says    map[string]string
	watched bool // there was none: somebody watched what others did
}

func loadsOf(first, second *result.Result) (loads, error) {
	var of [2]loadText
	for i, r := range []*result.Result{first, second} {
		root, err := document.Parse(result.SpecFile, []byte(r.Source))
		if err != nil {
			return loads{}, fmt.Errorf("%s: %w", r.Dir, err)
		}
		of[i].says, of[i].watched = map[string]string{}, root.Get("watched") != nil
		if load := root.Get("load"); load != nil {
			for _, e := range load.Entries {
				of[i].keys, of[i].says[e.Key] = append(of[i].keys, e.Key), flat(e.Value)
			}
		}
		if varied := root.Get("compare"); varied.Get("rate") != nil {
			of[i].says["rate"] = "several" // each in a cell of its own
		}
	}
	if one, other := found(first), found(second); !alike(one, other) {
		of[0].finds(one)
		of[1].finds(other)
	}
	return loads{of[0], of[1]}, nil
}

// found are the maxima that a result's rates are shares of, one for each of its data sets.
func found(r *result.Result) []float64 {
	var out []float64
	for _, e := range r.Events {
		if most, is := e.Detail["per_second"].(float64); is && e.Kind == series.LoadMaximum {
			out = append(out, most)
		}
	}
	return out
}

// alike tells whether rates are the same to a hundredth.
func alike(one, other []float64) bool {
	return slices.EqualFunc(one, other, func(a, b float64) bool { return math.Abs(a-b) <= 0.01*max(a, b) })
}

// finds writes, beside a rate that is a share of a maximum, what was offered.
func (l *loadText) finds(maxima []float64) {
	share := spec.ShareOfMax.FindStringSubmatch(l.says["rate"])
	if share == nil || len(maxima) == 0 {
		return
	}
	percent, _ := strconv.ParseFloat(share[1], 64)
	var offered []string
	for _, most := range maxima {
		offered = append(offered, fmt.Sprintf("%.0f/s", percent/100*most))
	}
	l.says["rate"] += " (" + strings.Join(offered, " and ") + ")"
}

// flat is a value in one line.
func flat(n *document.Node) string {
	var parts []string
	switch n.Kind {
	case document.Sequence:
		for _, item := range n.Items {
			parts = append(parts, flat(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case document.Mapping:
		for _, e := range n.Entries {
			parts = append(parts, e.Key+": "+flat(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return n.Text
}

// open tells whether operations arrive whether or not others have ended.
func (l loadText) open() bool { return l.says["rate"] != "" }

// metrics are those that mean the same in both.
func (l loads) metrics() []expect.Metric {
	free := !l.first.open() && !l.second.open()
	var out []expect.Metric
	if l.first.watched || l.second.watched {
		return []expect.Metric{{Name: "throughput"}} // a watch counts statements, and times none of them
	}
	for _, m := range append(figureMetrics(false), expect.Metric{Name: "mean", Basis: result.Response}) {
		if !m.Positive() || m.Name == "throughput" && !free && l.first.says["rate"] != l.second.says["rate"] {
			continue
		}
		if l.first.open() != l.second.open() {
			m.Basis = result.Service
		}
		out = append(out, m)
	}
	return out
}

// notes say how the loads differ, and what follows from that.
func (l loads) notes() []string {
	differ := l.differ()
	if len(differ) == 0 {
		return nil
	}
	notes := []string{"the loads differ, which may explain the differences below: " + strings.Join(differ, "; ")}
	switch {
	case l.first.open() != l.second.open():
		notes = append(notes, "one load is open loop and the other closed loop: the throughput is not compared, and of the times only service times, which leave out the wait before an operation begins")
	case l.first.says["rate"] != l.second.says["rate"]:
		notes = append(notes, "the throughput is the configured rate, and is not compared")
	}
	return notes
}

// differ lists how the loads differ.
func (l loads) differ() (differ []string) {
	keys := append(slices.Clone(l.first.keys), l.second.keys...)
	for i, key := range keys {
		one, other := l.first.says[key], l.second.says[key]
		if one != other && !slices.Contains(keys[:i], key) {
			differ = append(differ, fmt.Sprintf("%s %s, %s", key, orNone(one), orNone(other)))
		}
	}
	return differ
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
