package web

import (
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/runbook/journal"
	"plimsoll/web/words"
)

// said is an entry of a run's journal in the language of the page. What a server, an action or a person said stays as it is.
func said(book words.Book, now time.Time, t told) string {
	text := saidOf(book, now, t.event)
	if t.event.Order != nil {
		text = strings.Join(slices.DeleteFunc([]string{saidOrder(book, *t.event.Order), text}, func(s string) bool { return s == "" }), "; ")
	}
	if text == "" {
		return book.Of("event", string(t.Kind))
	}
	return text
}

func saidOf(book words.Book, now time.Time, e journal.Event) string {
	with := func(text, more string) string {
		if more == "" {
			return text
		}
		return text + ": " + more
	}
	switch e.Kind {
	case journal.Checked:
		return with(book.Say("said.checked", book.Of("found", string(e.Finding.State))), e.Finding.Reason)
	case journal.Intended:
		return book.Say("said.intended", e.Attempt)
	case journal.Cut:
		return with(book.Say("said.cut"), e.Reason)
	case journal.Verified:
		return book.Say("state.done")
	case journal.Failed:
		if left := e.Until.Sub(now); left > 0 {
			return with(book.Say("said.again", rough(book, left)), e.Error)
		}
		return with(book.Say("state.failed"), e.Error)
	case journal.Asked:
		note := e.Note
		if e.Caution != "" {
			note = e.Caution
		}
		return with(book.Say("said.asked", e.Until.Local().Format(time.DateTime)), note)
	case journal.Approved:
		return with(book.Say("said.approved"), e.Approver())
	case journal.Held:
		return with(book.Say("said.held"), e.Reason)
	case journal.Freed:
		return book.Say("said.freed")
	case journal.Stuck:
		return with(book.Say("said.stuck"), e.Error)
	case journal.Valued:
		if e.Skip {
			return with(book.Say("state.skipped"), e.Reason)
		}
	case journal.Opened:
		return saidOpened(book, e)
	case journal.Stopping:
		if e.Error != "" {
			return with(book.Say("said.undo_failed"), e.Error)
		}
	case journal.Said:
		if e.Nothing {
			return book.Say("state." + string(journal.StepUntouched))
		}
		if e.Claimed {
			return book.Say("said.claimed", e.Cluster)
		}
	case journal.Undone:
		if len(e.Left) == 0 {
			return book.Say("state.undone")
		}
		var left []string
		for _, what := range slices.Sorted(maps.Keys(e.Left)) {
			left = append(left, what+" ("+e.Left[what]+")")
		}
		return with(book.Say("said.left"), strings.Join(left, ", "))
	}
	return e.Text()
}

// saidOpened is what is to be known of a session that begins.
func saidOpened(book words.Book, e journal.Event) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e.Unclaimed)) {
		all = append(all, book.Say("said.unclaimed", name, e.Unclaimed[name]))
	}
	if e.Reason != "" {
		all = append(all, book.Say("said.versions")+": "+e.Reason)
	}
	return strings.Join(all, "; ")
}

// saidOrder is what a person had a session do, and why.
func saidOrder(book words.Book, o journal.Command) string {
	text := ""
	switch o.Do {
	case journal.DoRun:
		text = book.Say("said.run")
	case journal.DoRerun:
		text = book.Say("said.rerun", o.Step)
		if o.Downstream {
			text = book.Say("said.downstream", o.Step)
		}
	case journal.DoCancel:
		text = book.Say("state.cancelled")
		if o.Undo {
			text = book.Say("said.cancel_undo")
		}
	default:
		return ""
	}
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}
