package console

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
)

// Progress shows how far long work is, on one line of a terminal or a line every ten seconds elsewhere.
type Progress struct {
	w          io.Writer
	what       string
	isTerminal bool
	began      time.Time
	shown      time.Time
}

// NewProgress begins to show work.
func NewProgress(c Streams, what string) *Progress {
	_, isTerminal := Terminal(c.Err)
	return &Progress{w: c.Err, what: what, isTerminal: isTerminal, began: time.Now()}
}

// Update is told how much is done; total is 0 when unknown.
func (p *Progress) Update(done, total int64, what string) {
	every := 10 * time.Second
	if p.isTerminal {
		every = 100 * time.Millisecond
	}
	now := time.Now()
	if now.Sub(p.shown) < every && (total == 0 || done < total) {
		return
	}
	p.shown = now
	line := fmt.Sprintf("%s %s", p.what, what)
	if total > 0 {
		line = fmt.Sprintf("%s %s: %d of %d (%d %%)", p.what, what, done, total, 100*done/total)
		if took := now.Sub(p.began); done >= total/50 && done > 0 && done < total && took > time.Second { // the first few tell nothing
			line += ", " + Roughly(time.Duration(float64(took)*float64(total-done)/float64(done))) + " left"
		}
	}
	if p.isTerminal {
		eraseLine(p.w)
		fmt.Fprint(p.w, line)
		return
	}
	fmt.Fprintln(p.w, line)
}

// Bytes is update for a file that is read. What takes no time is not worth a line.
func (p *Progress) Bytes(read, total int64) {
	if read < total && time.Since(p.began) > time.Second {
		p.Update(read>>10, total>>10, "KiB")
	}
}

// Close takes away what was shown.
func (p *Progress) Close() {
	if p.isTerminal && !p.shown.IsZero() {
		eraseLine(p.w)
	}
}

// Roughly writes a duration as people say it: 8s, 3m20s, 2h5m.
func Roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// NewLog writes to stderr what no screen shows.
func NewLog(c Streams) *slog.Logger {
	return slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Milliseconds is a duration as results print it.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
