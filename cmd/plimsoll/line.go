package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// liveLine writes lines that stay, and beneath them on a terminal one that changes. It is safe for concurrent use.
type liveLine struct {
	w      io.Writer
	person bool
	width  int

	mu    sync.Mutex
	now   string // on the screen
	shown time.Time
}

func newLiveLine(c console) *liveLine {
	width, person := terminal(c.err)
	return &liveLine{w: c.err, person: person, width: width, shown: time.Now()}
}

// say writes a line that stays.
func (l *liveLine) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != "" {
		eraseLine(l.w)
	}
	if l.person {
		text = wrap(text, l.width, "         ")
	}
	fmt.Fprintln(l.w, text)
	fmt.Fprint(l.w, l.now)
}

// elsewhere is how often the changing line is written where it cannot change.
const elsewhere = 10 * time.Second

// show replaces the changing line; where there is no terminal it is a line every ten seconds.
func (l *liveLine) show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.person {
		if time.Since(l.shown) >= elsewhere {
			l.shown = time.Now()
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

// clear takes the changing line away.
func (l *liveLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != "" {
		eraseLine(l.w)
		l.now = ""
	}
}
