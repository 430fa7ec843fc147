package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostCommands is how many a person types from a change in mind to a change that is proven and made. Whoever needs another one takes one away.
const mostCommands = 7

// The script makes a change on a production database from a fresh folder. What it types is the whole way, and what the pages tell.
func TestAChangeTakesSevenCommands(t *testing.T) {
	script := read(t, "testdata/real/way_to_production.txt")
	typed := commandsTyped(script)
	if len(typed) > mostCommands {
		t.Errorf("%d commands are typed: %v, want %d at most", len(typed), typed, mostCommands)
	}
	for _, needed := range []string{"runbook rehearse", "runbook run", "runbook approve"} {
		if !slices.Contains(typed, needed) {
			t.Errorf("the way lacks %s: %v", needed, typed)
		}
	}
	for page, heading := range map[string]string{"README.md": "## The change is a runbook\n", "README.ko.md": "## 변경은 런북입니다\n", "docs/rehearsals.md": "## The whole way\n"} {
		if told := wayOf(read(t, "../../"+page), heading); !slices.Equal(told, typed) {
			t.Errorf("%s tells the way as\n%v, and the script goes it as\n%v", page, told, typed)
		}
	}
}

// The count misses none of the ways in which a script types a command.
func TestCommandsOfAScriptAreCounted(t *testing.T) {
	const script = "# plimsoll watch\nplimsoll init trial\nexec plimsoll runbook run a.yaml &run&\n! exec plimsoll runbook plan\nexits 1 runbook resume r\nfollows 0 'plimsoll runbook cancel \\S+'\n" +
		"answers 0 dir trial.yaml\npasses 3 dir trial.yaml\nstdout 'plimsoll runbook approve'\n-- asks.sh --\nplimsoll runbook status\n"
	want := []string{"init trial", "runbook run", "runbook plan", "runbook resume", "runbook cancel", "trial run", "trial run"}
	if got := commandsTyped(script); !slices.Equal(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
}

// commandsTyped are the commands of the program that a script types, each by its noun and verb.
func commandsTyped(script string) (all []string) {
	script, _, _ = strings.Cut(script, "\n-- ") // the files that it needs
	typed := regexp.MustCompile(`^(?:[!?] )?(?:exec )?plimsoll (\S+ \S+)`)
	checked := regexp.MustCompile(`^exits \S+ (\S+ \S+)`)
	followed := regexp.MustCompile(`^follows \S+ '?plimsoll (\S+ \S+)`)
	trial := regexp.MustCompile(`^(?:answers|passes) `)
	for line := range strings.Lines(script) {
		for _, way := range []*regexp.Regexp{typed, checked, followed} {
			if found := way.FindStringSubmatch(line); found != nil {
				all = append(all, found[1])
			}
		}
		if trial.MatchString(line) {
			all = append(all, "trial run")
		}
	}
	return all
}

// wayOf are the commands of the last block of code that begins with plimsoll init, below a heading.
func wayOf(page, heading string) (all []string) {
	_, rest, _ := strings.Cut(page, heading)
	if rest, _, _ = strings.Cut(rest, "\n## "); !strings.Contains(rest, "plimsoll init inventory ") {
		return nil
	}
	_, block, _ := strings.Cut(rest, "plimsoll init inventory ")
	for line := range strings.Lines("plimsoll init inventory " + block) {
		found := regexp.MustCompile(`^(?:    )?plimsoll (\S+ \S+)`).FindStringSubmatch(line)
		if found == nil {
			return all
		}
		all = append(all, found[1])
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
