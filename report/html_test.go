package report

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/report/reporttest"
	"plimsoll/series"
)

func render(t *testing.T, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Attributes and style rules that could make a browser ask for something.
var asks = regexp.MustCompile(`(?i)(?:\s(?:src|srcset|href|action|data|poster|background|formaction|xlink:href)\s*=\s*["']?([^"'\s>]*)|url\(\s*["']?([^"')]*)|(@import)\s)`)

// A command in a hint is shown as code, which is copied whole; what is no command stays text, and nobody's text becomes markup.
func TestACommandInAHintIsCode(t *testing.T) {
	const hint = "or <b>: `sudo chrt -p $(pgrep -nf 'a|b')`"
	r := &result.Result{Verdict: result.Verdict{Verdict: analyze.Invalid, Advice: []string{hint}}}
	var page, markdown bytes.Buffer
	if err := errors.Join(HTML(&page, r), Markdown(&markdown, r)); err != nil {
		t.Fatal(err)
	}
	if want := `hint: or &lt;b&gt;: <code>sudo chrt -p $(pgrep -nf &#39;a|b&#39;)</code></p>`; !strings.Contains(page.String(), want) {
		t.Errorf("the page lacks %s", want)
	}
	if got := prose("a ` alone"); got != "a ` alone" {
		t.Errorf("%s", got)
	}
	if want := "- hint: or &lt;b&gt;: `sudo chrt -p $(pgrep -nf 'a|b')`\n"; !strings.Contains(markdown.String(), want) {
		t.Errorf("report.md lacks %s", want)
	}
}

func TestPageAsksForNothing(t *testing.T) {
	for name, r := range samples() {
		text := render(t, r)
		// Scripts are held to it by the page's policy, which the browser's test sees at work.
		if !strings.Contains(text, `content="default-src 'none';`) {
			t.Errorf("%s: the page has no policy that forbids requests", name)
		}
		text = regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(text, "")
		for _, m := range asks.FindAllStringSubmatch(text, -1) {
			if target := m[1] + m[2] + m[3]; !strings.HasPrefix(target, "#") && target != "data:," {
				t.Errorf("%s: the page asks for %q in %q", name, target, m[0])
			}
		}
	}
}

func TestAsksFindsRequests(t *testing.T) {
	for _, s := range []string{`<img src="https://example.org/a.png">`, `<link rel=stylesheet href=//example.org/a.css>`, `a{background:url(https://example.org)}`, `@import "a.css";`} {
		if !asks.MatchString(s) {
			t.Errorf("%s goes unseen", s)
		}
	}
}

// huge is more than any page should have to hold: three variants through a day each, in twenty rounds of a timeline, with
// hundreds of signals on three nodes.
func huge() *result.Result {
	r := reporttest.Timeline()
	start := r.Environment.Started
	r.Seconds, r.Verdict.Phases, r.Verdict.Cells, r.Signals, r.Events = nil, nil, nil, nil, nil
	at := start
	for round := 1; round <= 20; round++ {
		for _, v := range []string{"one", "two", "three"} {
			from := at
			for i := range 1440 {
				row := result.Row{Time: at, Cell: v, Round: round, Phase: "lab/freeze", Operation: "all", Length: time.Second}
				row.Tally = series.Tally{Scheduled: int64(1000 + i*7919%97), Done: int64(1000 + i*7919%97)}
				spread := time.Duration(i * 104729 % 1009)
				row.Response = result.Latency{P50: spread * 1001, P95: spread * 2003, P99: spread * 3001, P999: spread * 7001}
				row.Service = result.Latency{P50: spread * 999, P95: spread * 1999, P99: spread * 2999, P999: spread * 6999}
				r.Seconds = append(r.Seconds, row)
				at = at.Add(time.Second)
			}
			r.Verdict.Phases = append(r.Verdict.Phases, result.Phase{Name: "lab/freeze", Cell: v, Round: round, From: from, To: at, Impact: &analyze.Impact{}})
		}
	}
	for i, v := range []string{"one", "two", "three"} {
		r.Verdict.Cells = append(r.Verdict.Cells, result.Cell{Name: v, Variant: v, Control: i == 0, Rounds: 20})
	}
	r.Environment.Ended = at
	for s := range 300 {
		for n := range 3 {
			for i := range 100 {
				r.Signals = append(r.Signals, series.Point{
					Time: start.Add(at.Sub(start) * time.Duration(i) / 100), Signal: fmt.Sprintf("mysql.signal_%d", s), Node: fmt.Sprintf("n%d", n), Value: float64(i * (s + 1) % 7919),
				})
			}
		}
	}
	for i := range 5000 {
		r.Events = append(r.Events, series.Event{Time: start.Add(time.Duration(i) * time.Second), Kind: "node.flap", Node: "n1"})
	}
	return r
}

func TestPageIsSmallEnoughToMail(t *testing.T) {
	if testing.Short() {
		t.Skip("draws a very large page")
	}
	for name, r := range map[string]*result.Result{"huge": huge(), "day": day(), "comparison": reporttest.Comparison()} {
		if n := len(render(t, r)); n >= MaxBytes {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

// hostile is a result whose every name wants to be markup.
func hostile() *result.Result {
	const evil = `</script><img src=x onerror="window.pwned=1">'"` + "`"
	r := reporttest.Comparison()
	v := &r.Verdict
	v.Trial, v.Question, v.Reasons, v.Notes = evil, evil, []string{evil}, []string{evil}
	v.Claims[0].Expect, v.Claims[1].Needs = evil, evil
	for i := range v.Cells {
		if v.Cells[i].Control {
			continue
		}
		v.Cells[i].Variant = evil
	}
	r.Environment.Host["cpu"], r.Environment.Command, r.Source = evil, []string{evil}, evil
	r.Environment.Settings[0].Shown = evil
	for i := range r.Signals {
		if r.Signals[i].Signal == "host.cpu_share" {
			r.Signals[i].Signal, r.Signals[i].Node = evil+"."+evil, evil
		}
	}
	return r
}

func TestNamesAreNoMarkup(t *testing.T) {
	text := render(t, hostile())
	if strings.Contains(text, "<img") {
		t.Error("a name has become an element")
	}
	var b bytes.Buffer
	if err := Markdown(&b, hostile()); err != nil {
		t.Fatal(err)
	}
	code := false
	for line := range strings.SplitSeq(b.String(), "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if i := strings.Index(line, "<img"); i >= 0 && !code && !strings.Contains(line[:i], "`") {
			t.Errorf("a name has become an element of Markdown: %s", line)
		}
	}
	if code {
		t.Error("a name has opened or closed a block of code")
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	for name, r := range samples() {
		for _, width := range []int{60, 80, 100, 160} {
			for kind, render := range map[string]func(*bytes.Buffer) error{
				"text": func(b *bytes.Buffer) error { return Text(b, r, Terminal{Width: width, Color: true}) },
				"plot": func(b *bytes.Buffer) error { return Plot(b, r, Terminal{Width: width, Color: true}) },
			} {
				var b bytes.Buffer
				if err := render(&b); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(b.String(), "\x1b[") {
					t.Errorf("%s of %s has no colour", kind, name)
				}
				for line := range strings.SplitSeq(b.String(), "\n") {
					if n := visible(line); n > width {
						t.Errorf("%s of %s at %d columns: %d in %q", kind, name, width, n, line)
					}
				}
			}
		}
	}
}

var control = regexp.MustCompile("\x1b\\[[0-9;]*m")

func visible(s string) int { return len([]rune(control.ReplaceAllString(s, ""))) }
