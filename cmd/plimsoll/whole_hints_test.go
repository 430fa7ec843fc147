package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

// A hint names no part of a command: not lab up, but plimsoll lab up mariadb; not --cluster NAME, but plimsoll runbook plan FILE --cluster NAME. Who
// reads it at night types what stands there. An option may stand alone in a sentence about the command that was just typed, which is
// a key away; those are listed, each with its reason.
func TestHintsHaveNoHalfCommands(t *testing.T) {
	half, seen, used := newHalfCommands(newRoot(console.Streams{})), 0, map[string]bool{}
	eachSentence(t, func(where, text string, isHint bool) {
		if !isHint {
			return
		}
		seen++
		found := half.in(text)
		if _, excused := standAlone[text]; excused && found != "" {
			used[text] = true
			return
		}
		if found != "" {
			t.Errorf("%s: %q has %q outside of a command that begins with plimsoll", where, text, found)
		}
	})
	for text := range standAlone {
		if !used[text] {
			t.Errorf("no hint says %q any more: it is excused for nothing", text)
		}
	}
	if seen < 400 {
		t.Errorf("only %d texts of hints were found", seen)
	}
}

// The check above finds what it is for.
func TestHalfACommandIsFound(t *testing.T) {
	half := newHalfCommands(newRoot(console.Streams{}))
	for text, want := range map[string]string{
		"--cluster NAME": "--cluster",
		"use a lab with lab up --machines; faults are for labs":                      "--machines",
		"load it with load prepare":                                                  "load prepare",
		"(trial run) measures it":                                                    "trial run",
		"plimsoll lab down NAME removes it; or give another with --name NAME":        "--name",
		"plimsoll lab list shows them. Else --all":                                   "--all",
		"plimsoll runbook plan FILE --cluster NAME -i a=b, or plimsoll lab list":     "",
		"VALUE --break-lock REASON takes over the lock":                              "",
		"%s --step %s --reason REASON":                                               "",
		"plimsoll runbook resume RUN goes on; %[2]s --leave REASON ends it":          "",
		"delete it first: aws rds delete-db-instance --db-instance-identifier VALUE": "",
		"a trial runs it": "",
	} {
		if got := half.in(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// halfCommands finds options and verbs with their nouns that belong to no command of a text.
type halfCommands struct {
	verb *regexp.Regexp // with its noun, and what stands before it
}

func newHalfCommands(root *cobra.Command) halfCommands {
	var all []string
	for _, noun := range root.Commands() {
		for _, verb := range noun.Commands() {
			all = append(all, noun.Name()+" "+verb.Name())
		}
	}
	return halfCommands{regexp.MustCompile(`(?:^|[^\w/.-])((?:plimsoll )?(?:` + strings.Join(all, "|") + `))(?:$|[^\w-])`)}
}

var (
	clauseEnd = regexp.MustCompile(`; |\. |\n`)
	option    = regexp.MustCompile(`(?:^|[\s("'` + "`" + `])(--[a-z][a-z-]*)`)
	// A command begins with its program. VALUE and %s stand for one that is put there, where an option follows at once, and so does the space before
	// a text that is put behind another.
	begins = regexp.MustCompile(`(?:^|[\s("'` + "`" + `])(?:plimsoll|aws|kubectl|k6)(?: |$)|(?:(?:VALUE)+|%(?:\[\d+\])?[sqv])(?: --[a-z-]+(?: \S+)?)*$`)
	// These say of the command that was just typed what it lacks, has too much, or has wrongly, behind an error that names the option.
	ofTyped = regexp.MustCompile(`(?:\badd --[a-z-]+|\bleave --[a-z-]+ out\b|\bsuch as --[a-z-]+ \S+)`)
)

// in is the first half command of a text; "" if it has none.
func (h halfCommands) in(text string) string {
	if strings.HasPrefix(text, " ") {
		text = "VALUE" + text
	}
	for _, clause := range clauseEnd.Split(ofTyped.ReplaceAllString(text, "…"), -1) {
		for _, at := range option.FindAllStringSubmatchIndex(clause, -1) {
			if !begins.MatchString(strings.TrimRight(clause[:at[2]], " ")) {
				return clause[at[2]:at[3]]
			}
		}
		for _, at := range h.verb.FindAllStringSubmatchIndex(clause, -1) {
			if found := clause[at[2]:at[3]]; !strings.HasPrefix(found, "plimsoll ") {
				return found
			}
		}
	}
	return ""
}

const (
	ofTheCommand = "it is a sentence about an option of the command that was just typed, which is a key away"
	ofAnInput    = "it is behind an error that names the input, or the option, of the command that was just typed"
	ofAFile      = "it tells what a file is that a running program was given: there is nothing to type"
)

// standAlone are the hints in which an option stands alone, each with the reason.
var standAlone = map[string]string{
	"observe a replica, with --node NODE, or allow more, with --max-stall %s":                                                                  ofTheCommand,
	"observe for longer, with --for VALUE":                                                                                                     ofTheCommand,
	"name the volume with --volume, such as --volume gp2:800GiB, or with volume: in the inventory":                                             ofTheCommand,
	"plimsoll watch records it while it runs; --every 10s takes shorter spans":                                                                 ofTheCommand,
	"plimsoll init inventory VALUE writes one; without --inventory, VALUE is looked for here, in the parent folders and in ~/.config/plimsoll": ofTheCommand,
	"name the primary and its replicas in --target, such as --target mysql://user@primary,replica,replica/database":                            ofTheCommand,
	"without --yes the plan is shown first, so that you can read it before you answer":                                                         ofTheCommand,
	"--listen takes an address and a port of this machine, such as 127.0.0.1:7070, or a path with a / for a socket":                            ofTheCommand,
	"name another folder with --out, or remove it":                                                                                             ofTheCommand,
	"name another folder with --out":                                                                                                           ofTheCommand,
	"name its result folder instead: --beside results/…":                                                                                       ofTheCommand,
	"name a metric whose values are milliseconds with --metric; the file contains %s":                                                          ofTheCommand,
	"give the difference of its clock with --offset: 90s, -1h, or start, which aligns both beginnings":                                         ofTheCommand,
	"--password-file names the file that contains it":                                                                                          ofTheCommand,
	"--beside takes the path of an imported series, of a result's folder (plimsoll trial list) or of a file of k6 or HdrHistogram":             ofTheCommand,
	"--input %s=%s": ofAnInput,
	"check the account, its password and its privileges: user and password of the cluster in plimsoll.yaml, or with --target mysql://USER@… that USER and --password-env NAME": ofTheCommand,
	"roles: {%s: %s} in the web configuration, the file that --web-config names, gives %s that role":                                                                           ofAFile,
}
