package main

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

var command = regexp.MustCompile(`plimsoll (?:runbook|lab|superdisk|watch) [^\n]*`)

// advised are the commands that a text prints for a person to type, in their order. They stand in the middle of sentences: a command
// ends where a word is neither an argument nor a flag nor the value of one.
func advised(text string) (all [][]string) {
	for text != "" {
		at := command.FindStringIndex(text)
		if at == nil {
			return all
		}
		words := split(text[at[0]:at[1]])
		text = text[at[0]+len("plimsoll "):]
		if len(words) < 3 {
			continue
		}
		args := []string{words[1], bare(words[2])}
		ended := bare(words[2]) != words[2]
		takes := map[string]bool{"resume": true, "cancel": true, "rerun": true, "approve": true, "reject": true, "status": true, "history": true, "plan": true, "run": true, "fixed": true, "show": true, "evidence": true}
		for i := 3; i < len(words) && !ended; i++ {
			word := bare(words[i])
			ended = word != words[i] || word == ""
			switch {
			case word == "":
			case strings.HasPrefix(word, "-"):
				args = append(args, word)
				alone := slices.Contains([]string{"--undo", "--yes", "--json", "--downstream"}, word)
				if !alone && !ended && i+1 < len(words) {
					i++
					value := bare(words[i])
					ended = value != words[i]
					args = append(args, strings.Trim(value, `'"`))
				}
			case i == 3 && takes[args[1]] && isName(word):
				args = append(args, word)
			default:
				ended = true
			}
		}
		all = append(all, args)
	}
	return all
}

// isName tells a run, a runbook or a placeholder from a word of the sentence.
func isName(word string) bool {
	return strings.ContainsAny(word, "-/") || strings.ToUpper(word) == word
}

// split divides at spaces that no quotes enclose.
func split(text string) (words []string) {
	word, quote := "", rune(0)
	for _, c := range text + " " {
		switch {
		case quote != 0:
			word += string(c)
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote, word = c, word+string(c)
		case c == ' ':
			if word != "" {
				words = append(words, word)
			}
			word = ""
		default:
			word += string(c)
		}
	}
	return words
}

func bare(word string) string { return strings.TrimRight(word, ".,;:)") }

// filled puts a reason in the place of REASON, and a node whose server runs in the place of NODE, as a person does.
func (a *attack) filled(args []string) []string {
	args = slices.Clone(args)
	node := slices.IndexFunc(a.nodes(), func(n string) bool { return a.pid(n) > 0 })
	for i := range args {
		switch {
		case args[i] == "REASON":
			args[i] = "the attack goes on"
		case strings.HasSuffix(args[i], "=NODE") && node >= 0:
			args[i] = strings.TrimSuffix(args[i], "NODE") + a.nodes()[node]
		}
	}
	return args
}

// wrong says what is not valid about a command that was printed: it is asked of the program itself, which parses all flags before it helps.
func (a *attack) wrong(ctx context.Context, args []string) string {
	shape := strings.Join(append(slices.Clone(args[:2]), onlyFlags(args[2:])...), " ")
	if a.valid[shape] {
		return ""
	}
	a.valid[shape] = true
	if slices.Contains(args, "RUN") || slices.Contains(args, "RUNBOOK") || slices.Contains(args, "NAME") {
		return "it names no run"
	}
	s := a.program.do(ctx, nil, append(a.filled(args), "--help")...)
	if s.code != 0 || !strings.Contains(s.out, "plimsoll "+args[0]+" "+args[1]) {
		return strings.TrimSpace(s.err)
	}
	return ""
}

func onlyFlags(args []string) (flags []string) {
	for _, a := range args {
		if strings.HasPrefix(a, "-") || a == "RUN" {
			flags = append(flags, a)
		}
	}
	return flags
}
