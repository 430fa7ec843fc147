package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"plimsoll/report/terminal"
	"plimsoll/watch"
)

// Fleets is what shows a fleet that goes on changing; a watch.Watcher is one.
type Fleets interface {
	Fleet() watch.Fleet
	Changed() <-chan struct{}
}

// Screen shows the fleet on a terminal until a person leaves it or ctx ends. Keys: up and down, enter opens an instance,
// escape goes back, q leaves.
func Screen(ctx context.Context, in, out *os.File, of Fleets) error {
	_, plain := os.LookupEnv("NO_COLOR")
	m := &model{of: of, Palette: terminal.Output{Color: !plain}.Palette(), seen: of.Fleet()}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithFPS(10))
	if _, err := program.Run(); err != nil && !errors.Is(err, tea.ErrProgramKilled) {
		return fmt.Errorf("screen of the fleet: %w", err)
	}
	return nil
}

// model is the screen as bubbletea drives it.
type model struct {
	terminal.Palette
	of            Fleets
	seen          watch.Fleet
	width, height int
	selected      string // name of an instance
	open          bool   // it fills the screen
	offset        int    // lines scrolled
}

type tick struct{}

// wait ends at the next new picture.
func (m *model) wait() tea.Cmd {
	changed := m.of.Changed()
	return func() tea.Msg {
		<-changed
		return tick{}
	}
}

func (m *model) Init() tea.Cmd { return m.wait() }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tick:
		m.seen = m.of.Fleet()
		return m, m.wait()
	case tea.KeyMsg:
		return m, m.key(msg.String())
	}
	return m, nil
}

func (m *model) key(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "esc", "backspace", "left":
		m.open, m.offset = false, 0
	case "enter", "right":
		if m.move(0); m.selected != "" { // which stays open while the order changes
			m.open, m.offset = true, 0
		}
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	}
	return nil
}

func (m *model) move(by int) {
	if m.open {
		m.offset = max(m.offset+by, 0)
		return
	}
	if len(m.seen.Instances) > 0 {
		m.selected = m.seen.Instances[min(max(m.at()+by, 0), len(m.seen.Instances)-1)].Name
	}
}

// at is the place of the selected instance; the first until one is selected, which then is whichever is worst.
func (m *model) at() int {
	for n, i := range m.seen.Instances {
		if i.Name == m.selected {
			return n
		}
	}
	return 0
}

func (m *model) View() string { return terminal.Printable(m.view()) }

func (m *model) view() string {
	if m.width == 0 {
		return ""
	}
	if len(m.seen.Instances) == 0 {
		return "no instances are watched now; new ones are found within a minute\n" + m.Dim.Render("q leave")
	}
	view := view{Palette: m.Palette, width: m.width}
	var lines []string
	keys := "↑↓ choose   enter open   q leave"
	if m.open {
		lines = view.instance(m.seen.Instances[m.at()])
		m.offset = min(m.offset, max(len(lines)-(m.height-1), 0))
		lines = lines[m.offset:]
		keys = "esc back   ↑↓ scroll   q leave"
	} else {
		lines = append(view.summary(m.seen), "")
		table := view.table(m.seen, m.at())
		room := max(m.height-len(lines)-2, 1)
		first := max(m.at()-room+1, 0)
		lines = append(append(lines, table[0]), table[1+first:min(1+first+room, len(table))]...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(m.height-1, 0)], m.Dim.Render(keys))
	for n, l := range lines {
		lines[n] = lipgloss.NewStyle().MaxWidth(m.width).Render(l)
	}
	return strings.Join(lines, "\n")
}

// summary is the fleet in a line: is anything wrong?
func (v view) summary(f watch.Fleet) []string {
	down, load := 0, 0.0
	for _, i := range f.Instances {
		if i.State == watch.Down {
			down++
		}
		if i.Load != nil {
			load += i.Load.AAS
		}
	}
	head := v.Bold.Render("⦵ " + counted(len(f.Instances), "instance"))
	if down > 0 {
		head += "  " + v.Fail.Render(fmt.Sprintf("%d down", down))
	}
	firing, told := 0, 0 // as the rows count them, and what is only for information
	for _, a := range f.Alerts {
		switch {
		case a.State != "firing" || a.Silenced:
		case a.Severity == "critical", a.Severity == "warning":
			firing++
		default:
			told++
		}
	}
	if firing > 0 {
		head += "  " + v.Fail.Render(counted(firing, "alert"))
	} else {
		head += "  " + v.Dim.Render("no alerts")
	}
	if told > 0 {
		head += v.Dim.Render(fmt.Sprintf("  %d for information", told))
	}
	return []string{head + v.Dim.Render("  "+f.At.Local().Format("15:04:05"))}
}
