package main

import (
	"fmt"
	"strings"

	"plimsoll/result"

	"plimsoll/report/quantity"
)

// String writes the table as Markdown.
func (t *table) String() string {
	var b strings.Builder
	if about := t.about(); about != "" {
		b.WriteString(about + "\n\n")
	}
	b.WriteString("| | commits per second | | p99 | killed: lost | window | power failed: lost | window | what it may lose |\n|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, v := range t.variants {
		cells := append(t.pace(v), append(losses(t.crash, v), losses(t.power, v)...)...)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", v, strings.Join(cells, " | "), window(v))
	}
	return strings.ReplaceAll(b.String(), "\u202f", " ")
}

// about says where and when the results come from.
func (t *table) about() string {
	var parts []string
	for _, r := range []*result.Result{t.speed, t.crash, t.power} {
		if r == nil {
			continue
		}
		e := r.Environment
		parts = append(parts, fmt.Sprintf("%s on %s, %s", r.Verdict.Trial, e.Started.Format("2006-01-02"), form(e.Command)))
		if len(parts) == 1 {
			parts[0] = fmt.Sprintf("%s %s; %s cores, %s; %s", e.Engine["product"], e.Engine["version"], e.Host["cores"], e.Host["filesystem"], parts[0])
		}
	}
	return strings.Join(parts, "; ") + "."
}

// form is the trial's form.
func form(command []string) string {
	for _, word := range command {
		if word == "--quick" {
			return "quick form"
		}
	}
	return "full form"
}

// pace is how fast a variant commits, against the control, and how long the slowest hundredth takes.
func (t *table) pace(variant string) []string {
	c, ok := cellOf(t.speed, variant)
	if !ok {
		return []string{"", "", ""}
	}
	throughput, change, p99 := "", "", ""
	for _, f := range c.Figures {
		switch {
		case f.Operation != "":
		case f.Metric == "throughput":
			throughput = quantity.Plain.Format(f.Estimate.Value)
			if f.Ratio != nil {
				change = quantity.Change(f.Ratio.Value)
				if f.Ratio.Low <= 1 && f.Ratio.High >= 1 {
					change = "≈ " + change
				}
			}
		case f.Metric == "response_p99":
			p99 = quantity.Milliseconds.Format(f.Estimate.Value)
		}
	}
	return []string{throughput, change, p99}
}

// losses are the writes that a variant lost, of how many, and how old the oldest was.
func losses(r *result.Result, variant string) []string {
	c, ok := cellOf(r, variant)
	if !ok || c.Writes == nil {
		return []string{"", ""}
	}
	lost, point := 0.0, 0.0
	for _, f := range c.Figures {
		switch f.Metric {
		case "lost_writes":
			lost = f.Estimate.Value
		case "recovery_point":
			point = f.Estimate.Value
		}
	}
	if lost == 0 {
		return []string{"0 of " + quantity.Count.Format(float64(c.Writes.Acknowledged)), "none"}
	}
	return []string{
		fmt.Sprintf("**%s** of %s", quantity.Count.Format(lost), quantity.Count.Format(float64(c.Writes.Acknowledged))),
		quantity.Milliseconds.Format(point),
	}
}

func cellOf(r *result.Result, variant string) (result.Cell, bool) {
	if r == nil {
		return result.Cell{}, false
	}
	for _, c := range r.Verdict.Cells {
		if c.Variant == variant {
			return c, true
		}
	}
	return result.Cell{}, false
}

// window is what a variant may lose by its settings: "flush 2 sync 100" or "flush 1 no binlog".
func window(variant string) string {
	binlog := map[string]string{
		"sync 100": "; the binary log up to 100 groups of commits", "sync 0": "; the binary log what the system has not written",
		"sync 1": "; the binary log has what the primary lost",
	}
	flush, rest, _ := strings.Cut(strings.TrimPrefix(variant, "flush "), " ")
	switch {
	case flush == "1" && (rest == "sync 1" || rest == "no binlog"):
		return "nothing"
	case flush == "1":
		return "power failure: the last commits" + binlog[rest]
	case flush == "2":
		return "power failure: up to a second" + binlog[rest]
	}
	return "kill and power failure: up to a second" + binlog[rest]
}
