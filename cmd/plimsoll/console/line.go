package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// LiveLine writes lines that stay, and beneath them on a terminal one that changes. It is safe for concurrent use.
type LiveLine struct {
	w          io.Writer
	IsTerminal bool
	width      int

	mu    sync.Mutex
	now   string // on the screen
	shown time.Time
	last  string // that was shown where there is no terminal
}

// NewLiveLine writes where a command says how it goes on.
func NewLiveLine(c Streams) *LiveLine {
	width, isTerminal := Terminal(c.Err)
	return &LiveLine{w: c.Err, IsTerminal: isTerminal, width: width, shown: time.Now()}
}

// Say writes a line that stays.
func (l *LiveLine) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != "" {
		eraseLine(l.w)
	}
	if l.IsTerminal {
		text = wrap(text, l.width, "         ")
	}
	fmt.Fprintln(l.w, text)
	fmt.Fprint(l.w, l.now)
}

// How often the changing line is written where it cannot change: the same again only says that it goes on.
const (
	elsewhere = 10 * time.Second
	unchanged = 5 * time.Minute
)

// Show replaces the changing line; where there is no terminal it is a line every ten seconds, and every five minutes while nothing changes.
func (l *LiveLine) Show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.IsTerminal {
		every := elsewhere
		if text == l.last {
			every = unchanged
		}
		if time.Since(l.shown) >= every {
			l.shown, l.last = time.Now(), text
			fmt.Fprintln(l.w, text)
		}
		return
	}
	if runes := []rune(text); len(runes) >= l.width {
		text = string(runes[:max(l.width-2, 0)]) + "…"
	}
	if text != l.now {
		eraseLine(l.w)
		fmt.Fprint(l.w, text)
		l.now = text
	}
}

// Clear takes the changing line away.
func (l *LiveLine) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != "" {
		eraseLine(l.w)
		l.now = ""
	}
}
