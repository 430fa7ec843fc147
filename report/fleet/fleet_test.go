package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"

	tea "github.com/charmbracelet/bubbletea"

	"plimsoll/report/terminal"
	"plimsoll/watch"
)

func f(v float64) *float64 { return &v }

// sampleFleet has one instance in trouble, one that works, one that is down.
func sampleFleet() watch.Fleet {
	return watch.Fleet{At: time.Unix(1700000000, 0), Instances: []watch.Instance{
		{Name: "orders/n3", State: watch.Down, Why: "nothing listens at 10.0.0.3:3306"},
		{
			Name: "orders/n1", State: watch.Up, Cores: 4, Product: "MySQL", Version: "8.4.3",
			Load:       &watch.Load{AAS: 6, Source: "counters", Waits: []watch.Wait{{Class: "redo", AAS: 4}, {Class: "cpu", AAS: 2}}},
			Throughput: f(1234), P99: f(0.012), Connections: f(900), MostConns: f(1000),
			IO: &watch.IO{IOPS: f(2990), Limit: f(3000), Censored: true, HoursToDry: f(0.5)}, Disk: &watch.Disk{Data: f(2 << 30), Free: f(12 << 30), Total: f(50 << 30)},
			Statements: []watch.Statement{{Digest: "1", Text: "UPDATE t\nSET v = ?", AAS: 3, Source: "samples"}},
			Callers:    []watch.Caller{{User: "app", Host: "10.0.3.7", AAS: 5}, {User: "cron", AAS: 1}},
			Sessions:   []watch.Session{{ID: "7", User: "app", Seconds: 90, Does: "blocks 3 others"}},
			Alerts:     []watch.Alert{{Rule: "x", Severity: "critical", State: "firing", Summary: "The bucket is empty in half an hour", Do: "Change to gp3.", Runbook: "rds/grow-storage", Labels: map[string]string{"cluster": "orders"}}},
		},
		{Name: "orders/n2", State: watch.Up, Cores: 4, Load: &watch.Load{}, Channels: []watch.Channel{{Source: "10.0.0.1:3306", Lag: f(42)}}},
	}}
}

func TestTheFleetInATable(t *testing.T) {
	var out strings.Builder
	if err := Text(&out, sampleFleet(), terminal.Output{Width: 160}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for n, want := range []string{"INSTANCE", "nothing listens", "6.00/4", "42.0 s"} {
		if !strings.Contains(lines[n], want) {
			t.Errorf("line %d lacks %q: %s", n, want, lines[n])
		}
	}
	for _, want := range []string{"redo 67 %, cpu 33 %", "2,990/3,000 pinned", "30 min", "900/1,000", " 76 %", "2.00 GiB", "! 1 alert ", "▶"} {
		if !strings.Contains(lines[2], want) {
			t.Errorf("no %q in %s", want, lines[2])
		}
	}
}

// A server that refuses the account is not told as down.
func TestARefusedLoginIsToldAsSuch(t *testing.T) {
	var out strings.Builder
	fleet := watch.Fleet{Instances: []watch.Instance{{Name: "orders/n1", State: watch.Refused, Why: "refuses the watch's account: Access denied for user 'plimsoll' (1045)"}}}
	if err := Text(&out, fleet, terminal.Output{Width: 160}); err != nil {
		t.Fatal(err)
	}
	line := strings.Split(out.String(), "\n")[1]
	if !strings.Contains(line, "✗ refused") || !strings.Contains(line, "refuses the watch's account: Access denied") || strings.Contains(out.String(), "down") {
		t.Error(out.String())
	}
}

// What is left of the I/O credits has one name, in the table and of an instance.
func TestWhatIsLeftOfTheBurstHasOneName(t *testing.T) {
	view := view{Palette: terminal.Output{}.Palette(), width: 160}
	if text := strings.Join(view.figures(sampleFleet().Instances[1]), "\n"); !strings.Contains(text, "burst left 30") {
		t.Error(text)
	}
}

// An alert of a rule whose summary is empty, or blanks, is shown by the rule's name.
func TestAnAlertWithoutASummaryIsShown(t *testing.T) {
	view := view{Palette: terminal.Output{}.Palette(), width: 80}
	for _, summary := range []string{"", " \n"} {
		i := watch.Instance{Name: "orders/n1", Alerts: []watch.Alert{{Rule: "IsDown", Summary: summary}, {Summary: summary}}}
		if text := strings.Join(view.instance(i), "\n"); !strings.Contains(text, "! IsDown  since ") || !strings.Contains(text, "! an alert  since ") {
			t.Errorf("with the summary %q: %s", summary, text)
		}
	}
}

// What one instance has to say does not take the columns of all others: on eighty columns load, lag and waits are all seen.
func TestALongReasonTakesTheRoomThatIsLeft(t *testing.T) {
	fleet := sampleFleet()
	fleet.Instances[0].State, fleet.Instances[0].Why = watch.Paused, "Plimsoll's own queries took 151 ms (p95), so Plimsoll does not poll this instance for 60 s"
	for width, want := range map[int][]string{80: {"STMT/S", "LAG", "WAITS FOR", "42.0 s", "Plimsoll's own"}, 200: {"DATA", "queries took 151 ms (p95), so Plimsoll"}} {
		view := view{Palette: terminal.Output{}.Palette(), width: width}
		lines := view.table(fleet, -1)
		for _, text := range want {
			if !strings.Contains(strings.Join(lines, "\n"), text) {
				t.Errorf("at %d columns there is no %q:\n%s", width, text, strings.Join(lines, "\n"))
			}
		}
		for _, line := range lines {
			if lipgloss.Width(strings.TrimRight(line, " ")) > width {
				t.Errorf("at %d columns a line is wider: %s", width, line)
			}
		}
	}
}

// The figures of an instance that is not polled are grey, whatever they say, and stand with their age.
func TestOldFiguresAreGreyAndSayTheirAge(t *testing.T) {
	fleet := sampleFleet()
	paused := &fleet.Instances[1]
	paused.State, paused.Why, paused.Age = watch.Paused, "Plimsoll's own queries took 151 ms", 180
	v := view{Palette: terminal.Output{Color: true}.Palette(), width: 160}
	line := v.table(fleet, -1)[2]
	for _, want := range []string{"‖ 3 min old", v.Dim.Render("2,990/3,000 pinned"), v.Dim.Render("900/1,000"), v.Dim.Render("12.0 ms"), v.Dim.Render("██████████▶ 6.00/4")} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %q", want, line)
		}
	}
	page := strings.Join(v.instance(*paused), "\n")
	for _, want := range []string{"read 3 min ago", v.Dim.Render("Average active sessions: 6.00 on 4 cores  by counters"), "2,990/3,000 pinned", "burst left 30 min"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %q", want, page)
		}
	}
	if strings.Contains(page, v.Fail.Render("2,990/3,000 pinned")) {
		t.Errorf("a figure of an instance that is not polled is red: %q", page)
	}
}

func TestANarrowFleetKeepsWhatMattersMost(t *testing.T) {
	for _, width := range []int{40, 60, 80, 100} {
		view := view{Palette: terminal.Output{}.Palette(), width: width}
		lines := view.table(sampleFleet(), -1)
		if !strings.Contains(lines[2], "6.00/4") || !strings.Contains(lines[2], "orders/n1") {
			t.Errorf("at %d columns: %s", width, lines[2])
		}
		if width >= 60 && lipgloss.Width(lines[2]) > width {
			t.Errorf("%d columns of %d: %s", lipgloss.Width(lines[2]), width, lines[2])
		}
	}
}

// A replica that is not connected to its source has no lag, and is not told as one that is well.
func TestAReplicaThatIsNotConnectedIsToldAsSuch(t *testing.T) {
	v := view{Palette: terminal.Output{}.Palette(), width: 160}
	i := sampleFleet().Instances[2]
	i.Channels = []watch.Channel{{Name: "first", Source: "10.0.0.1:3306", Connecting: true, Error: "Access denied for user 'repl'"}, {Name: "second", Source: "10.0.0.9:3306", Lag: f(1)}}
	if line := v.table(watch.Fleet{Instances: []watch.Instance{i}}, -1)[1]; !strings.Contains(line, "not connected") {
		t.Errorf("the fleet: %s", line)
	}
	if page := strings.Join(v.instance(i), "\n"); !strings.Contains(page, "first: follows 10.0.0.1:3306  not connected  Access denied for user 'repl'") {
		t.Errorf("the instance: %s", page)
	}
	well := i
	well.Channels = nil
	if i.Badness() <= well.Badness() {
		t.Errorf("it needs no more attention than one that is well: %d", i.Badness())
	}
}

// The line above the table counts the alerts that its rows count; what is only for information is told apart.
func TestTheHeadCountsWhatTheRowsCount(t *testing.T) {
	v := view{Palette: terminal.Output{}.Palette(), width: 160}
	fleet := sampleFleet()
	for _, severity := range []string{"info", "info", "warning", "critical"} {
		fleet.Alerts = append(fleet.Alerts, watch.Alert{Severity: severity, State: "firing"})
	}
	fleet.Alerts = append(fleet.Alerts, watch.Alert{Severity: "critical", State: "firing", Silenced: true}, watch.Alert{Severity: "critical", State: "pending"})
	if head := v.summary(fleet)[0]; !strings.Contains(head, "  2 alerts  2 for information") {
		t.Error(head)
	}
	fleet.Alerts = fleet.Alerts[:2]
	if head := v.summary(fleet)[0]; !strings.Contains(head, "  no alerts  2 for information") {
		t.Error(head)
	}
}

// Of an instance that follows several sources the fleet shows the lag of each channel, the worst first; where there is little room, the worst and how many
// others there are, before a figure of more weight is left out.
func TestTheLagOfEachChannel(t *testing.T) {
	fleet := sampleFleet()
	replica := &fleet.Instances[2]
	replica.Channels = []watch.Channel{{Name: "main", Source: "10.0.0.1:3306", Lag: f(0)}, {Name: "ext", Source: "10.0.0.9:3306", Lag: f(12)}}
	for width, want := range map[int]string{200: "ext 12.0 s · main 0 ms", 160: "ext 12.0 s · main 0 ms", 100: "ext 12.0 s +1", 80: "  12.0 s +1"} {
		v := view{Palette: terminal.Output{}.Palette(), width: width}
		lines := v.table(fleet, -1)
		if !strings.Contains(lines[3], want) {
			t.Errorf("at %d columns no %q: %s", width, want, lines[3])
		}
		for _, line := range lines {
			if lipgloss.Width(strings.TrimRight(line, " ")) > width {
				t.Errorf("at %d columns a line is wider: %s", width, line)
			}
		}
	}
	replica.Channels = append(replica.Channels, watch.Channel{Name: "dead", Stopped: true}, watch.Channel{Name: "far", Connecting: true}, watch.Channel{Name: "a_channel_with_a_long_name"}, watch.Channel{Lag: f(3)})
	v := view{Palette: terminal.Output{}.Palette(), width: 200}
	if line := v.table(fleet, -1)[3]; !strings.Contains(line, "dead stopped · far not connected · ext 12.0 s +3") {
		t.Error(line)
	}
	replica.Channels = replica.Channels[4:]
	if line := v.table(fleet, -1)[3]; !strings.Contains(line, "default 3.00 s · a_channel_w… –") {
		t.Error(line)
	}
}

type frozenFleet struct{ changed chan struct{} }

func (frozenFleet) Fleet() watch.Fleet         { return sampleFleet() }
func (s frozenFleet) Changed() <-chan struct{} { return s.changed }

func TestAKeyOpensAnInstance(t *testing.T) {
	m := &model{of: frozenFleet{}, Palette: terminal.Output{}.Palette(), seen: sampleFleet()}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	if view := m.View(); !strings.Contains(view, "3 instances  1 down") || !strings.Contains(view, "▸ orders/n3") {
		t.Errorf("the fleet:\n%s", view)
	}
	m.Update(tea.KeyMsg{Type: tea.KeyDown})
	m.Update(tea.KeyMsg{Type: tea.KeyEnter})
	view := m.View()
	for _, want := range []string{"MySQL · 8.4.3", "Average active sessions: 6.00 on 4 cores", "UPDATE t SET v = ?", "Load by account  app@10.0.3.7 5.00, cron 1.00", "blocks 3 others", "half an hour", "Change to gp3.", "plimsoll runbook plan rds/grow-storage --cluster orders"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	for _, line := range strings.Split(view, "\n") {
		if lipgloss.Width(line) > 120 {
			t.Errorf("a line of %d columns: %s", lipgloss.Width(line), line)
		}
	}
	m.Update(tea.KeyMsg{Type: tea.KeyEsc})
	if !strings.Contains(m.View(), "INSTANCE") {
		t.Error("escape does not go back")
	}
	if _, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q")}); cmd == nil {
		t.Error("q does not leave")
	}
}

// movingFleet changes its order while a person looks.
type movingFleet struct {
	changed chan struct{}
	fleet   watch.Fleet
}

func (m *movingFleet) Fleet() watch.Fleet       { return m.fleet }
func (m *movingFleet) Changed() <-chan struct{} { return m.changed }

// What a person has opened stays open when another instance becomes the worst, and a fleet may become empty under their hands.
func TestTheOpenInstanceStaysWhenTheOrderChanges(t *testing.T) {
	of := &movingFleet{changed: make(chan struct{}), fleet: sampleFleet()}
	m := &model{of: of, Palette: terminal.Output{}.Palette(), seen: of.Fleet()}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m.Update(tea.KeyMsg{Type: tea.KeyEnter})
	of.fleet.Instances[0], of.fleet.Instances[2] = of.fleet.Instances[2], of.fleet.Instances[0]
	m.Update(tick{})
	if view := m.View(); !strings.Contains(view, "orders/n3") || !strings.Contains(view, "nothing listens at 10.0.0.3:3306") {
		t.Errorf("orders/n3 was opened, and what is seen is\n%s", view)
	}
	m.Update(tea.KeyMsg{Type: tea.KeyEsc})
	of.fleet.Instances = nil
	m.Update(tick{})
	for _, key := range []tea.KeyType{tea.KeyDown, tea.KeyEnter, tea.KeyUp} {
		m.Update(tea.KeyMsg{Type: key})
	}
	if view := m.View(); !strings.Contains(view, "no instances are watched") {
		t.Errorf("of an empty fleet is shown %q", view)
	}
}

// When a bucket will be empty is marked while the load has not been seen long enough to know it to 5 %.
func TestARoughForecastIsMarked(t *testing.T) {
	hours := 0.5
	for margin, want := range map[float64]string{0.02: "30\u202fmin", 1: "≈30\u202fmin"} {
		got := view{Palette: terminal.Output{}.Palette()}.dry(watch.Instance{IO: &watch.IO{HoursToDry: &hours, HoursMargin: margin}})
		if got != want {
			t.Errorf("with a margin of %g: %q, want %q", margin, got, want)
		}
	}
}

// What is longer than the screen is wide goes on in the next line: of a narrow screen no figure, no advice and no command is cut off.
func TestNothingOfAnInstanceIsCutOffAtEightyColumns(t *testing.T) {
	i := sampleFleet().Instances[1]
	i.Commits, i.Running, i.IO.Bytes, i.IO.Bucket, i.Memory = f(300), f(12), f(5<<20), f(0.25), &watch.Memory{Pool: f(8 << 30), MissShare: f(0.03)}
	i.Alerts[0].Do = "Change the volume to gp3, which has no bucket, or to a larger gp2, or move what causes the reads to a replica that has room for it."
	i.Alerts[0].Inputs = "type=gp3 iops=FILL_IN throughput=FILL_IN allocated=FILL_IN"
	i.Findings = []watch.Finding{{Text: "The performance schema is off: waits are sampled once a second from the list of sessions, and who holds a lock is not shown.", Do: "For exact waits set performance_schema=ON and restart."}}
	v := view{Palette: terminal.Output{}.Palette(), width: 80}
	lines := v.instance(i)
	for _, line := range lines {
		if lipgloss.Width(line) > 80 {
			t.Errorf("a line of %d columns: %s", lipgloss.Width(line), line)
		}
	}
	page := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(lines, "\n"), "\\\n", "\n")), " ")
	for _, want := range []string{"free 12.0 GiB", "misses 3", "a replica that has room for it.", "plimsoll runbook plan rds/grow-storage --cluster orders -i type=gp3 -i iops=FILL_IN -i throughput=FILL_IN -i allocated=FILL_IN", "who holds a lock is not shown. For exact waits set performance_schema=ON and restart."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if !strings.Contains(strings.Join(lines, "\n"), " \\\n    ") {
		t.Errorf("a command that goes on in the next line is none that a shell takes:\n%s", strings.Join(lines, "\n"))
	}
}

func TestOneIsNotMany(t *testing.T) {
	fleet := sampleFleet()
	fleet.Instances, fleet.Alerts = fleet.Instances[1:2], fleet.Instances[1].Alerts
	if head := (view{Palette: terminal.Output{}.Palette(), width: 80}).summary(fleet)[0]; !strings.Contains(head, "1 instance  1 alert  ") {
		t.Errorf("the head is %q", head)
	}
}
