package journal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/internal/document"
)

// Text is the event in words, for people; empty for events that are of the machinery alone.
func (e Event) Text() string {
	switch e.Kind {
	case Checked:
		if e.Finding.Reason != "" {
			return fmt.Sprintf("checked: %s (%s)", FoundInWords(e.Finding.State), e.Finding.Reason)
		}
		return "checked: " + FoundInWords(e.Finding.State)
	case Intended:
		if e.Attempt > 1 {
			return fmt.Sprintf("started, attempt %d", e.Attempt)
		}
		return "started"
	case Cut:
		if e.Past {
			return e.Reason
		}
		return "interrupted, will be repeated: " + e.Reason
	case Verified:
		return "done"
	case Failed:
		if left := time.Until(e.Until); left > 0 {
			return fmt.Sprintf("failed: %s; again in %s", e.Error, left.Round(time.Second))
		}
		return "failed: " + e.Error
	case Asked:
		note := e.Note
		if e.Caution != "" {
			note = e.Caution
		}
		return fmt.Sprintf("waits for approval until %s: %s", e.Until.Local().Format(time.DateTime), note)
	case Approved:
		return "approved by " + e.Approver()
	case Held:
		return "paused by guardrail " + e.Reason
	case Freed:
		return "continues, because the guardrail is no longer breached"
	case Stopping:
		if e.Error != "" {
			return e.Error + "; undoing what was done"
		}
	case Opened:
		said := NotClaimed(e.Unclaimed)
		if e.Reason != "" {
			said = append(said, "continues with other versions of its actions: "+e.Reason)
		}
		return strings.Join(said, "; ")
	case Undone:
		said := []string{"undone"}
		for _, what := range document.SortedKeys(e.Left) {
			said = append(said, "except "+what+": "+e.Left[what])
		}
		return strings.Join(said, ", ")
	case Stuck:
		return "not undone: " + e.Error
	case Said:
		return e.Reason
	case Valued:
		if e.Skip && e.Reason != "" {
			return "skipped: " + e.Reason
		}
		if e.Skip {
			return "skipped"
		}
	}
	return ""
}

// FoundInWords is what a check found, as a person reads it.
func FoundInWords(s action.State) string {
	switch s {
	case action.Satisfied:
		return "nothing to do"
	case action.Needed:
		return "to be executed"
	case action.Unknown:
		return "a person must look at it"
	}
	return string(s)
}

// NotClaimed says of each cluster that has not stored the claim of a run what that means.
func NotClaimed(why map[string]string) []string {
	var said []string
	for _, cluster := range document.SortedKeys(why) {
		said = append(said, fmt.Sprintf("cluster %s does not answer, so the lock of this run is not stored in it yet: until it answers, Plimsoll of another account or machine does not know that the cluster is locked (%s)",
			cluster, why[cluster]))
	}
	return said
}

// Approver is who approved, and how that is known.
func (e Event) Approver() string {
	switch {
	case e.Signer != "":
		return e.Signer + " (ssh key; sent by " + e.By + ")"
	case e.Known != "":
		return e.By + " (" + e.Known + ")"
	}
	return e.By
}

// OneLine writes an error that holds several in one line, what several nodes say alike once.
func OneLine(err error) string {
	var said []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line == "" || !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}
