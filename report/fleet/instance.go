package fleet

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"plimsoll/report/quantity"
	"plimsoll/watch"
)

// instance is one instance on a page: what it waits for, whose statements, what it follows, what it lacks.
func (v view) instance(i watch.Instance) []string {
	lines := []string{
		v.Bold.Render(i.Name) + "  " + strings.Join(nonEmpty(i.Product, i.Version, i.Role, i.Environment, i.Address), " · "),
		v.state(i) + v.Dim.Render(fmt.Sprintf("  read %s ago", age(i))),
	}
	if i.Why != "" {
		lines = append(lines, v.prose(v.Fail, "", i.Why)...)
	}
	if alerts := v.alerts(i); len(alerts) > 0 {
		lines = append(append(lines, ""), alerts...)
	}
	in := v.inks(i)
	for _, part := range [][]string{in.loadOf(i), in.figures(i), in.commit(i), in.channels(i), in.statements(i), in.callers(i), in.sessions(i), in.findings(i)} {
		if len(part) == 0 {
			continue
		}
		lines = append(lines, "")
		for _, line := range part {
			lines = append(lines, v.dimmed(i, line))
		}
	}
	for n := range lines {
		lines[n] = strings.ReplaceAll(lines[n], "\u202f", " ")
	}
	return lines
}

// age is how old what is shown of an instance is.
func age(i watch.Instance) string {
	return quantity.Duration(time.Duration(i.Age * float64(time.Second)).Round(time.Second))
}

func nonEmpty(all ...string) (some []string) {
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}

func (v view) alerts(i watch.Instance) (lines []string) {
	for _, a := range i.Alerts {
		lines = append(lines, v.prose(v.Fail, "! ", cmp.Or(strings.TrimSpace(a.Summary), a.Rule, "an alert"))...)
		since := "  since " + a.Since.Local().Format("15:04:05")
		if a.Silenced {
			since += ", silenced"
		}
		lines[len(lines)-1] += v.Dim.Render(since)
		if a.Do != "" {
			lines = append(lines, v.prose(lipgloss.NewStyle(), "  ", a.Do)...)
		}
		if command := a.Command(); command != "" {
			lines = append(lines, v.command(command)...)
		}
	}
	return lines
}

// folded lays parts of a text in lines that are no wider than the screen, but for what is wider by itself. What comes after a line that is full
// begins with indent, and the full line ends with broken.
func (v view) folded(parts []string, gap, indent, broken string) (lines []string) {
	line := ""
	for n, part := range parts {
		switch {
		case n == 0:
			line = part
		case lipgloss.Width(line+gap+part+broken) > v.width:
			lines = append(lines, line+broken)
			line = indent + part
		default:
			line += gap + part
		}
	}
	return append(lines, line)
}

// prose is a text in as many lines as it takes.
func (v view) prose(style lipgloss.Style, before, text string) []string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	words[0] = before + words[0]
	lines := v.folded(words, " ", strings.Repeat(" ", lipgloss.Width(before)), "")
	for n := range lines {
		lines[n] = style.Render(lines[n])
	}
	return lines
}

// command is one that a shell takes, in as many lines as it takes.
func (v view) command(text string) []string {
	if strings.ContainsAny(text, `'"`) { // a break may be within a word of the shell
		return []string{"  " + text}
	}
	words := strings.Fields(text)
	words[0] = "  " + words[0]
	return v.folded(words, " ", "    ", " \\")
}

func (v view) loadOf(i watch.Instance) []string {
	if i.Load == nil {
		return nil
	}
	head := "Average active sessions: " + quantity.Number(i.Load.AAS)
	full := max(i.Load.AAS, 1)
	if i.Cores > 0 {
		head += fmt.Sprintf(" on %d cores", i.Cores)
		full = max(full, float64(i.Cores))
	}
	lines := []string{v.Bold.Render(head) + v.Dim.Render("  by "+i.Load.Source)}
	for _, w := range i.Load.Waits {
		if w.AAS >= 0.005 {
			lines = append(lines, fmt.Sprintf("  %-11s %6s %s", w.Class, quantity.Number(w.AAS), v.stack([]watch.Wait{w}, full, 40)))
		}
	}
	return lines
}

func (v view) figures(i watch.Instance) []string {
	var all []string
	add := func(name string, text string) {
		if text != "" {
			all = append(all, v.Dim.Render(name)+" "+text)
		}
	}
	add("statements", value(i.Throughput, quantity.PerSecond))
	add("commits", value(i.Commits, quantity.PerSecond))
	add("p99", value(i.P99, quantity.Seconds))
	add("connections", v.connections(i))
	add("running", value(i.Running, quantity.Count))
	if i.IO != nil {
		add("IOPS", v.iops(i))
		add("I/O", value(i.IO.Bytes, quantity.BytesPerSecond))
		add("bucket", value(i.IO.Bucket, quantity.Share))
		add("burst left", v.dry(i))
	}
	if i.Memory != nil {
		add("pool", value(i.Memory.Pool, quantity.Bytes))
		add("misses", value(i.Memory.MissShare, quantity.Share))
	}
	if i.Disk != nil {
		add("data", value(i.Disk.Data, quantity.Bytes))
		add("free", value(i.Disk.Free, quantity.Bytes))
	}
	return v.folded(all, "   ", "", "")
}

func (v view) commit(i watch.Instance) []string {
	if i.Commit == nil {
		return nil
	}
	var parts []string
	for _, p := range []struct {
		name string
		v    *float64
	}{
		{"total", i.Commit.Total}, {"redo", i.Commit.Redo}, {"binlog", i.Commit.Binlog}, {"semi-sync", i.Commit.SemiSync}, {"queue", i.Commit.Queue},
	} {
		if p.v != nil {
			parts = append(parts, p.name+" "+quantity.Seconds.Format(*p.v))
		}
	}
	if i.Commit.GroupSize != nil {
		parts = append(parts, quantity.Number(*i.Commit.GroupSize)+" in a group")
	}
	if len(parts) == 0 {
		return nil
	}
	line := v.Bold.Render("A commit") + "  " + strings.Join(parts, "   ")
	if len(i.Commit.Untold) > 0 {
		line += v.Dim.Render("   not separable: " + strings.Join(i.Commit.Untold, ", "))
	}
	return []string{line}
}

func (v view) channels(i watch.Instance) (lines []string) {
	for _, c := range i.Channels {
		line := "follows " + c.Source
		if c.Name != "" {
			line = c.Name + ": " + line
		}
		switch {
		case c.Stopped:
			line += "  " + v.Fail.Render("stopped")
		case c.Connecting:
			line += "  " + v.Fail.Render("not connected")
		case c.Lag != nil:
			line += "  lag " + quantity.Seconds.Format(*c.Lag)
		}
		if c.Error != "" {
			line += "  " + cut(c.Error, max(v.width-len(line)-2, 20))
		}
		lines = append(lines, line)
	}
	return lines
}

func (v view) statements(i watch.Instance) []string {
	if len(i.Statements) == 0 {
		return nil
	}
	lines := []string{v.Bold.Render("Statements by load") + v.Dim.Render("  by "+i.Statements[0].Source)}
	for _, s := range i.Statements[:min(len(i.Statements), 8)] {
		line := fmt.Sprintf("  %6s", quantity.Number(s.AAS))
		if s.Calls != nil && s.Average != nil {
			line += fmt.Sprintf("  %8s/s  %9s", quantity.Number(*s.Calls), quantity.Seconds.Format(*s.Average))
		}
		lines = append(lines, line+"  "+cut(s.Text, max(v.width-len(line)-4, 20)))
	}
	return lines
}

func (v view) callers(i watch.Instance) []string {
	var parts []string
	for _, c := range i.Callers[:min(len(i.Callers), 4)] {
		parts = append(parts, c.String()+" "+quantity.Number(c.AAS))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{v.Bold.Render("Load by account") + "  " + cut(strings.Join(parts, ", "), max(v.width-20, 20))}
}

func (v view) sessions(i watch.Instance) []string {
	var lines []string
	for _, s := range i.Sessions[:min(len(i.Sessions), 6)] {
		lines = append(lines, fmt.Sprintf("  %7s  %-24s %-20s %s", quantity.Duration(time.Duration(s.Seconds)*time.Second), s.Does, watch.Caller{User: s.User, Host: s.Host}, cut(s.Text, max(v.width-60, 20))))
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{v.Bold.Render("Notable sessions")}, lines...)
}

func (v view) findings(i watch.Instance) (lines []string) {
	for _, f := range i.Findings {
		lines = append(lines, v.prose(v.Unknown, "• ", f.Text)...)
		lines = append(lines, v.prose(lipgloss.NewStyle(), "  ", f.Do)...)
	}
	return lines
}
