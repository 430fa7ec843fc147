package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"plimsoll/trial/progress"

	"plimsoll/report/quantity"
	"plimsoll/series"
)

// every is how long a stage may go on before it is heard of again.
const every = 10 * time.Second

// lines follows a trial where there is no screen: a line when the stage changes or something happens, and one every ten
// seconds in between.
type lines struct {
	mu   sync.Mutex
	w    io.Writer
	now  func() time.Time
	seen *liveState
	said progress.Stage
	last time.Time
}

// Lines is a Screen of plain lines, for logs and terminals that can do no better.
func Lines(w io.Writer, now func() time.Time) Screen {
	return &lines{w: w, now: now, seen: newLiveState(now())}
}

func (l *lines) Observe(u progress.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.seen.observe(u, now)
	switch u := u.(type) {
	case progress.Stage:
		if u.Doing != l.said.Doing || u.Cell != l.said.Cell || u.Round != l.said.Round {
			l.said = u
			l.say(now, l.seen.what())
			return
		}
		l.tick(now)
	case progress.Second:
		l.tick(now)
	case progress.Happened:
		if u.Kind.Group() != series.OfPhases && !shownOtherwise(u.Event) {
			l.line(now, eventName(u.Event)+parenthesis(detailsOf(u.Event)))
		}
	case progress.Plan, progress.PhaseBegan, progress.CellDone, progress.Finished: // the stages tell
	}
}

// tick says how it goes, if nothing was said for a while.
func (l *lines) tick(now time.Time) {
	if now.Sub(l.last) < every {
		return
	}
	parts := []string{l.seen.what()}
	if how := l.seen.how(now); how != "" {
		parts = append(parts, how)
	}
	if row, ok := l.seen.latest(); ok && row.Cell == l.seen.stage.Cell {
		parts = append(parts, reading(row))
	}
	if left, ok := l.seen.left(now); ok {
		parts = append(parts, "about "+roughly(left)+" left")
	}
	l.say(now, strings.Join(parts, "; "))
}

func (l *lines) say(now time.Time, what string) {
	l.last = now
	l.line(now, what)
}

func (l *lines) line(now time.Time, what string) {
	text := fmt.Sprintf("%7s  %s\n", quantity.Elapsed.Format(now.Sub(l.seen.began).Seconds()), what)
	_, _ = io.WriteString(l.w, strings.ReplaceAll(text, "\u202f", " ")) // nobody to tell if the log is gone
}

// Say writes the message as a line.
func (l *lines) Say(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line(l.now(), message)
}

// Close does nothing: every line is already written.
func (l *lines) Close() error { return nil }

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// roughly writes a time that is only estimated: to the minute from ten minutes on.
func roughly(d time.Duration) string {
	if d >= 10*time.Minute {
		return quantity.Duration(d.Round(time.Minute))
	}
	return quantity.Duration(d.Round(time.Second))
}
