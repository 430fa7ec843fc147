package web

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/runbook/journal"
	"plimsoll/web/words"
)

// Whatever the journal of a run has is said in the language of the page: only names and what others wrote, here in capitals, stay as they are.
func TestEveryEventIsSaidInTheLanguageOfThePage(t *testing.T) {
	source, err := os.ReadFile("../runbook/journal/event.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`\bKind = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 20 {
		t.Fatalf("only the kinds %q", kinds)
	}
	book, err := words.Read(words.Korean)
	if err != nil {
		t.Fatal(err)
	}
	english := regexp.MustCompile(`[a-z]{2,}`)
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, kind := range kinds {
		bare := journal.Event{Kind: journal.Kind(kind[1]), Finding: &action.CheckResult{State: action.Needed}}
		full := bare
		full.Reason, full.Error, full.Note, full.Caution, full.By, full.Cluster = "REASON", "ERROR", "NOTE", "CAUTION", "BY", "CLUSTER"
		full.Left, full.Unclaimed = map[string]string{"LEFT": "WHY"}, map[string]string{"CLUSTER": "WHY"}
		claimed, skipped, again, ordered := full, full, full, full
		claimed.Claimed, skipped.Skip, again.Until = true, true, now.Add(time.Minute)
		ordered.Order = &journal.Command{Do: "rerun", Step: "STEP", Reason: "REASON", Downstream: true}
		for _, e := range []journal.Event{bare, full, claimed, skipped, again, ordered} {
			text := strings.ReplaceAll(said(book, now, told{Kind: e.Kind, event: e}), "Plimsoll", "")
			if text == "" || english.MatchString(text) {
				t.Errorf("%s: %q", e.Kind, text)
			}
		}
	}
}

// How long an attempt waits is told by the clock of the page.
func TestTheNextAttemptIsToldByTheClockOfThePage(t *testing.T) {
	book, err := words.Read(words.English)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2020, 1, 31, 12, 0, 0, 0, time.UTC) // long ago
	if got := said(book, now, told{Kind: journal.Failed, event: journal.Event{Kind: journal.Failed, Error: "no", Until: now.Add(30 * time.Second)}}); !strings.Contains(got, "again in") {
		t.Errorf("%q", got)
	}
}

// A run that stopped between two steps cannot always be resumed: another may have had its cluster since. So its state promises nothing.
func TestTheStateOfAStoppedRunPromisesNothing(t *testing.T) {
	for l, promise := range map[words.Language]string{words.English: "resume", words.Korean: "재개"} {
		book, err := words.Read(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{book.Of("state", "parked"), book.Of("event", "parked")} {
			if word == "" || strings.Contains(word, promise) {
				t.Errorf("%s: %q", l, word)
			}
		}
	}
}
