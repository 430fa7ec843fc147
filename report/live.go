package report

import (
	"fmt"
	"os"
	"sync"
	"time"

	"plimsoll/report/terminal"
	"plimsoll/trial/progress"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"
)

// Screen shows a running trial until it is closed. Its methods may be called from any goroutine and return at once.
type Screen interface {
	progress.Observer
	// Say tells a person what must not be missed, for example what Ctrl-C did and what a second one would do. A full
	// screen gives way to plain lines for it: whatever comes next finds the terminal as it was.
	Say(message string)
	// Close gives the terminal back as it was.
	Close() error
}

// Live is a full screen on out if that is a terminal that can show one, else plain lines. It takes no keys: Ctrl-C
// reaches the program as the signal that it is.
func Live(out *os.File, now func() time.Time) (Screen, error) {
	kind := os.Getenv("TERM")
	if !term.IsTerminal(int(out.Fd())) || kind == "" || kind == "dumb" {
		return Lines(out, now), nil
	}
	return newFullScreen(os.Stdin, out, now)
}

// newFullScreen takes over a terminal, of which in is the keyboard.
func newFullScreen(in, out *os.File, now func() time.Time) (*fullScreen, error) {
	restore, err := terminal.Silence(in)
	if err != nil {
		return nil, fmt.Errorf("prepare the terminal: %w", err)
	}
	l := &fullScreen{out: out, now: now, seen: newLiveState(now()), restore: restore, ended: make(chan struct{})}
	_, plain := os.LookupEnv("NO_COLOR")
	l.program = tea.NewProgram(&model{full: l, palette: Terminal{Color: !plain}.Palette()},
		tea.WithOutput(out), tea.WithInput(nil), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithFPS(10))
	l.leave = sync.OnceValue(l.end)
	go func() {
		defer close(l.ended)
		_, l.err = l.program.Run()
	}()
	return l, nil
}

// fullScreen is a Screen on a terminal. The trial writes into seen and goes on; the screen looks at it twice a second, so
// that neither a burst of updates nor a slow terminal costs the trial anything.
type fullScreen struct {
	out     *os.File
	now     func() time.Time
	program *tea.Program
	restore func() error
	leave   func() error  // end, once
	ended   chan struct{} // closed when program has ended, with err
	err     error

	mu   sync.Mutex
	seen *liveState
	left *lines // what goes on after the screen was left; nil before
}

func (l *fullScreen) Observe(u progress.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left != nil {
		l.left.Observe(u)
		return
	}
	l.seen.observe(u, l.now())
}

func (l *fullScreen) Say(message string) {
	_ = l.leave() // Close tells
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == nil {
		l.left = &lines{w: l.out, now: l.now, seen: l.seen, said: l.seen.stage, last: l.now()}
	}
	l.left.Say(message)
}

func (l *fullScreen) Close() error { return l.leave() }

// end gives the terminal back.
func (l *fullScreen) end() error {
	l.program.Quit()
	<-l.ended
	if err := l.restore(); err != nil {
		return fmt.Errorf("restore the terminal: %w", err)
	}
	if l.err != nil {
		return fmt.Errorf("live screen: %w", l.err)
	}
	return nil
}

// model is the screen as bubbletea drives it. It is drawn on a tick or when the size changes, not on every call of View.
type model struct {
	full    *fullScreen
	palette terminal.Palette
	width   int
	height  int
	drawn   string
}

// refresh is how often the screen looks at what has happened.
const refresh = 500 * time.Millisecond

type tick struct{}

func next() tea.Cmd { return tea.Tick(refresh, func(time.Time) tea.Msg { return tick{} }) }

func (m *model) Init() tea.Cmd { return next() }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.draw()
	case tick:
		m.draw()
		return m, next()
	}
	return m, nil
}

func (m *model) View() string { return terminal.Printable(m.drawn) }

func (m *model) draw() {
	if m.width == 0 {
		return
	}
	m.full.mu.Lock()
	defer m.full.mu.Unlock()
	m.drawn = screen{Palette: m.palette, width: m.width, height: m.height}.draw(m.full.seen, m.full.now())
}
