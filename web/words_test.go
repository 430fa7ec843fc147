package web

import (
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/runbook/journal"
	"plimsoll/watch"
	"plimsoll/web/words"
)

// Every state that a page shows has its word in each language.
func TestEveryStateHasItsWord(t *testing.T) {
	states := []string{"firing", "pending", "resolved", "open", "closed", "running", "waiting", "asking", "held", "parked", journal.Stopped, journal.DoneWithRemainders, journal.UndoneWithRemainders}
	for _, s := range []watch.State{watch.Unread, watch.Up, watch.Down, watch.Refused, watch.Paused, watch.Reduced} {
		states = append(states, string(s))
	}
	for _, o := range []journal.Outcome{journal.RunDone, journal.RunFailed, journal.RunCancelled, journal.RunUndone} {
		states = append(states, string(o))
	}
	for _, p := range []journal.Phase{
		journal.StepWaiting, journal.StepChecking, journal.StepAsking, journal.StepDue, journal.StepActing, journal.StepVerifying,
		journal.StepRetrying, journal.StepDone, journal.StepSkipped, journal.StepFailed, journal.StepUndoing, journal.StepUndone, journal.StepNotExecuted, journal.StepUntouched, journal.StepInterrupted, journal.StepInDoubt,
	} {
		states = append(states, string(p))
	}
	for _, a := range []analyze.Answer{analyze.Pass, analyze.Fail, analyze.Inconclusive, analyze.Invalid, analyze.CouldNotRun} {
		states = append(states, string(a))
	}
	for _, l := range words.Languages {
		book, err := words.Read(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if book["state."+s] == "" {
				t.Errorf("%s has no word for the state %q", l, s)
			}
		}
	}
}

// Each state has a class that the style sheet may name; what has remainders is shown as a warning.
func TestStatesWithRemaindersHaveAColour(t *testing.T) {
	style, err := os.ReadFile("assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{journal.DoneWithRemainders: "s-done s-remainders", journal.UndoneWithRemainders: "s-undone s-remainders", "done": "s-done", "undone": "s-undone"} {
		if got := classOf(state); got != want {
			t.Errorf("%s has the class %q, want %q", state, got, want)
		}
		for class := range strings.FieldsSeq(classOf(state)) {
			if !regexp.MustCompile(regexp.QuoteMeta("."+class) + `[ ,{]`).Match(style) {
				t.Errorf("the style sheet has no rule for %s", class)
			}
		}
	}
	all, err := readScreens(time.Now, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := all[words.English].pages["runs"].ExecuteTemplate(&b, "state", journal.UndoneWithRemainders); err != nil || !strings.Contains(b.String(), `class="state s-undone s-remainders"`) {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// A session that waits in COMMIT is not said to wait in a queue: MariaDB's state does not tell which part of the commit it waits for.
func TestAWaitForACommitIsNoQueue(t *testing.T) {
	for l, want := range map[words.Language]string{words.English: "commit", words.Korean: "커밋"} {
		book, err := words.Read(l)
		if err != nil {
			t.Fatal(err)
		}
		if got := book["wait.commit"]; got != want {
			t.Errorf("%s: the wait is called %q, want %q", l, got, want)
		}
	}
}

// Figures of an instance that is not polled are marked as old, with the time at which they were read.
func TestFiguresThatAreNotPolledAreOld(t *testing.T) {
	all, err := readScreens(time.Now, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	read := time.Date(2026, 11, 26, 6, 8, 0, 0, time.UTC)
	for state, old := range map[watch.State]bool{watch.Up: false, watch.Reduced: false, watch.Paused: true} {
		row := rowOfInstance(watch.Instance{Name: "orders/n1", State: state, Why: "slow", Read: read, Load: &watch.Load{AAS: 0.2}})
		var b strings.Builder
		if err := all[words.English].pages["fleet"].ExecuteTemplate(&b, "live-fleet", map[string]any{"UTC": true, "Page": fleetPage{Watched: true, Rows: []instanceRow{row}}}); err != nil {
			t.Fatal(err)
		}
		if marked, dated := strings.Contains(b.String(), `class="old"`), strings.Contains(b.String(), "2026-11-26T06:08:00"); marked != old || dated != old {
			t.Errorf("%s: marked as old %v, with the time %v; want %v: %s", state, marked, dated, old, b.String())
		}
	}
}

// A server that refuses the account is not shown as down, in either language.
func TestARefusedLoginIsNotShownAsDown(t *testing.T) {
	all, err := readScreens(time.Now, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	row := rowOfInstance(watch.Instance{Name: "orders/n1", State: watch.Refused, Why: "refuses the watch's account: Access denied (1045)"})
	for language, word := range map[words.Language]string{words.English: "login refused", words.Korean: "로그인 거부"} {
		var b strings.Builder
		if err := all[language].pages["fleet"].ExecuteTemplate(&b, "live-fleet", map[string]any{"UTC": true, "Page": fleetPage{Watched: true, Rows: []instanceRow{row}}}); err != nil {
			t.Fatal(err)
		}
		shown := html.UnescapeString(b.String())
		if !strings.Contains(shown, word) || !strings.Contains(shown, "refuses the watch's account: Access denied") || strings.Contains(shown, "s-down") {
			t.Errorf("%s: %s", language, shown)
		}
	}
}

// A replica that is not connected to its source is shown so, with what the source said, in either language.
func TestAReplicaThatIsNotConnectedIsShownSo(t *testing.T) {
	all, err := readScreens(time.Now, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	i := watch.Instance{Name: "orders/n2", State: watch.Up, Channels: []watch.Channel{{Source: "10.0.0.5:3306", Connecting: true, Error: "Access denied for user 'repl'"}}}
	for language, word := range map[words.Language]string{words.English: "not connected", words.Korean: "연결 안 됨"} {
		for page, of := range map[string]any{"fleet": fleetPage{Watched: true, Rows: []instanceRow{rowOfInstance(i)}}, "instance": &instancePage{Instance: i, Row: rowOfInstance(i)}} {
			var b strings.Builder
			if err := all[language].pages[page].ExecuteTemplate(&b, map[string]string{"fleet": "live-fleet", "instance": "live-detail"}[page], map[string]any{"UTC": true, "Page": of}); err != nil {
				t.Fatal(err)
			}
			shown := html.UnescapeString(b.String())
			if !strings.Contains(shown, word) || !strings.Contains(shown, "s-connecting") || page == "instance" && !strings.Contains(shown, "Access denied for user 'repl'") {
				t.Errorf("%s, %s: %s", page, language, shown)
			}
		}
	}
}

// Where nothing is watched yet, the pages say what to do, and not that all is well.
func TestAnEmptyFleetSaysWhatToDo(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	h.Watch.Fleet = func() watch.Fleet { return watch.Fleet{At: time.Now()} }
	for _, path := range []string{"/fleet", "/alerts"} {
		if page := v.get(path).body; !strings.Contains(page, "No instances are watched. Add clusters to plimsoll.yaml") || strings.Contains(page, "No alert is firing") {
			t.Errorf("%s: %s", path, page)
		}
	}
}

// A run that left targets out has ended.
// A list of runs says how long each still takes and how that is known, or how many of its steps are done; of one that waits for a person nobody knows.
func TestTheListOfRunsSaysTheTimeLeft(t *testing.T) {
	rows := []runRow{
		{Run: "learned", Status: journal.Running, Share: 0.4, Left: 3 * time.Minute, LeftBy: journal.ByEarlierRuns, Position: "a"},
		{Run: "paced", Status: journal.Running, Left: 90 * time.Second, LeftBy: journal.ByPace},
		{Run: "unknown", Status: journal.Running, StepsOver: 2, StepsAll: 5},
		{Run: "waits", Status: "asking", StepsOver: 1, StepsAll: 3},
	}
	for language, want := range map[words.Language][]string{
		words.English: {"left: about 3 min, by earlier runs", "left: about 1 min, at the pace so far", "2 of 5 steps done, time left not known", ""},
		words.Korean:  {"남은 시간: 약 3분, 이전 실행 기준", "남은 시간: 약 1분, 지금까지의 속도 기준", "스텝 5개 중 2개 끝남, 남은 시간은 알 수 없음", ""},
	} {
		page := partIn(t, language, "runs", "live-runs", runList{Runs: rows})
		for n, row := range rows {
			_, line, _ := strings.Cut(page, ">"+row.Run+"</a>")
			line, _, _ = strings.Cut(line, "</tr>")
			if !strings.Contains(line, want[n]) || want[n] == "" && (strings.Contains(line, "left") || strings.Contains(line, "남은") || strings.Contains(line, "steps")) {
				t.Errorf("%s, %s: no %q in %s", language, row.Run, want[n], line)
			}
			own := partIn(t, language, "run", "live-run", &runPage{runRow: row, Undone: []string{"a replica is left as it is"}})
			if !strings.Contains(own, want[n]) || !strings.Contains(own, "a replica is left as it is") || want[n] == "" && (strings.Contains(own, "left: about") || strings.Contains(own, "남은 시간")) {
				t.Errorf("%s, the page of %s: no %q in %s", language, row.Run, want[n], own)
			}
		}
	}
}

func TestARunWithRemaindersHasEnded(t *testing.T) {
	for status, open := range map[string]bool{journal.DoneWithRemainders: false, journal.UndoneWithRemainders: false, "done": false, "failed": true, "running": true} {
		if got := (runRow{Status: status}).Open(); got != open {
			t.Errorf("%s: open is %v", status, got)
		}
	}
}
