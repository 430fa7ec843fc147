package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/report/chart"
	"plimsoll/report/quantity"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/watch"
	"plimsoll/web/words"
)

// functions are what templates call, in one language.
func functions(book words.Book, now func() time.Time, given func(string) string) template.FuncMap {
	return template.FuncMap{
		"t":       book.Say,
		"word":    func(page string, word any) string { return book.Of(page, fmt.Sprint(word)) },
		"ago":     func(at time.Time) string { return ago(book, now().Sub(at)) },
		"until":   func(at time.Time) string { return until(book, at.Sub(now())) },
		"lasting": func(d time.Duration) string { return lasting(book, d) },
		"clock":   clock,
		"iso":     func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"percent": func(share float64) string { return fmt.Sprintf("%.0f", 100*share) },
		"name":    func(l words.Language) string { return words.Names[l] },
		"colour":  func(state any) string { return classOf(fmt.Sprint(state)) },
		"shape":   func(state any) string { return shapeOf(fmt.Sprint(state)) },
		"parts":   parts,
		"forEach": func(step string) bool { return strings.HasPrefix(step, "each[") },
		"said":    func(t told) string { return said(book, now(), t) },
		"list":    func(items ...string) []string { return items },
		"has":     func(words, word string) bool { return slices.Contains(strings.Fields(words), word) },
		"shell":   command,
		"given":   given,
		"typed":   runbook.AsTyped,
		"num":     quantity.Number,
		"whole":   quantity.Count.Format,
		"aas":     func(v float64) string { return fmt.Sprintf("%.2f", v) },
		"hours":   func(v float64) string { return fmt.Sprintf("%.1f", v) },
		"dur":     quantity.Seconds.Format,
		"share":   quantity.Share.Format,
		"picture": func(c chart.Chart, width, height int) markup {
			c.Title = book.Of("curve", c.Title)
			return picture(c, width, height)
		},
		"verdicts": func() []analyze.Answer { return verdicts },
		"changed":  changedOf,
		"short":    func(hash string) string { return hash[:min(8, len(hash))] },
	}
}

// changed is something that changed, as a person reads it.
type changed struct {
	watch.Change
	Run  string // that it was; "": none
	Said string
}

func changedOf(c watch.Change) changed {
	if run, what, is := strings.Cut(c.What, " "); is && c.Kind == "run" {
		return changed{c, run, what}
	}
	return changed{c, "", c.What}
}

// in is what changed in the language of the page: a run, and what became of it.
func (c changed) in(book words.Book) string {
	if c.Run == "" {
		return c.Said
	}
	return c.Run + " " + book.Of("state", c.Said)
}

// parts makes one value of several for a template: name, value, name, value.
func parts(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

// clock is a moment with its date, on 24 hours.
func clock(at time.Time, utc bool) string {
	if at.IsZero() {
		return "–"
	}
	if utc {
		return at.UTC().Format(time.DateTime)
	}
	return at.Local().Format(time.DateTime)
}

// zoneOf is what the clock of a page is called.
func zoneOf(utc bool, now time.Time) string {
	if utc {
		return "UTC"
	}
	name, _ := now.Local().Zone()
	return name
}

// rough is a time in the one or two units that matter.
func rough(book words.Book, d time.Duration) string {
	switch {
	case d < time.Minute:
		return book.Say("time.seconds", int(d.Seconds()))
	case d < time.Hour:
		return book.Say("time.minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return book.Say("time.hours", int(d.Hours()))
	}
	return book.Say("time.days", int(d.Hours()/24))
}

func ago(book words.Book, d time.Duration) string {
	if d < 5*time.Second {
		return book.Say("time.now")
	}
	return book.Say("time.ago", rough(book, d))
}

func until(book words.Book, d time.Duration) string {
	if d <= 0 {
		return book.Say("time.over")
	}
	return book.Say("time.in", rough(book, d))
}

// lasting is how long something took.
func lasting(book words.Book, d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return ""
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return rough(book, d)
}

// command is a command line as a shell takes it.
func command(words ...any) string {
	var out []string
	if len(words) == 1 {
		if several, are := words[0].([]any); are {
			words = several
		}
	}
	for _, w := range words {
		out = append(out, hint.Quoted(fmt.Sprint(w)))
	}
	return strings.Join(out, " ")
}

// classOf is the class that gives a state its colour. What is done or undone with remainders is a warning: somebody has to look at them.
func classOf(state string) string {
	switch state {
	case journal.DoneWithRemainders:
		return "s-done s-remainders"
	case journal.UndoneWithRemainders:
		return "s-undone s-remainders"
	case string(journal.StepUndoFailed):
		return "s-failed"
	}
	return "s-" + strings.ReplaceAll(strings.ReplaceAll(state, ",", ""), " ", "-")
}

// shapeOf is which shape stands for a state, so that nobody needs its colour.
func shapeOf(state string) string {
	switch state {
	case "done", "pass", "PASS", "ok", "satisfied", "up", "resolved", "open", "fit":
		return "check"
	case "failed", string(journal.StepUndoFailed), "fail", "FAIL", "firing", "critical", "down", "stopped", "connecting":
		return "cross"
	case "asking", "approval", journal.DoneWithRemainders, journal.UndoneWithRemainders, "warning", "pending", "capped", "refused":
		return "diamond"
	case "running", "acting", "checking", "verifying", "undoing", "due", "retry":
		return "turning"
	case "held", "parked", "closed", "paused", "reduced", "INVALID", "invalid", "unfit", string(analyze.CouldNotRun):
		return "bars"
	case "undone", "cancelled":
		return "back"
	case "skipped":
		return "dash"
	case "INCONCLUSIVE", "inconclusive", "unknown":
		return "wave"
	}
	return "ring"
}
