package journal

import "regexp"

// aRun is a command on a run in the words of who does not know which run it is: an action does not know of which it is a step.
var aRun = regexp.MustCompile(`(plimsoll runbook [a-z]+) RUN\b`)

// NameRun writes the name of a run into the commands of an advice about it, so that they can be typed.
func NameRun(advice, run string) string { return aRun.ReplaceAllString(advice, "${1} "+run) }
