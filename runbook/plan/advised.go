package plan

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/books"
	"plimsoll/runbook/journal"
)

// shipped is a runbook that an advice names, such as mysql/rejoin, with the inputs that it gives, unless that is a part of a command already.
var shipped = regexp.MustCompile(`(^|[^\w/.-]|plimsoll runbook [a-z]+ )(?:run )?((?:aurora|cql|kube|mysql|rds|singlestore|superdisk)/[a-z][a-z-]*[a-z])( --cluster)?((?: -i [a-z_0-9]+=\S+)*)`)

// ofDisks is the command that shows Super Disks: of this machine, where it names no cluster.
const ofDisks = "plimsoll superdisk status"

// OnCluster makes of the runbooks that an advice names commands for a cluster: an action does not know how that is called. An input that the
// runbook needs, and that the advice does not give, is marked as one that a person fills in. A command that is whole stays as it is.
func OnCluster(text, cluster string) string {
	cluster = hint.Quoted(cluster)
	text = disksOf(text, cluster)
	return shipped.ReplaceAllStringFunc(text, func(found string) string {
		parts := shipped.FindStringSubmatch(found)
		if parts[3] != "" { // it is whole
			return found
		}
		before := parts[1]
		if !strings.HasPrefix(before, "plimsoll") {
			before += "plimsoll runbook plan "
		}
		command := fmt.Sprintf("%s%s --cluster %s", before, parts[2], cluster)
		for _, name := range books.Required(parts[2]) {
			if !strings.Contains(parts[4], " -i "+name+"=") {
				command += " -i " + name + "=" + hint.FillIn
			}
		}
		return command + parts[4]
	})
}

// OfRun is OnCluster of what an action of a run advises: where that names the run's own runbook, the command has the run's inputs, but for those
// that the advice gives.
func OfRun(text string, h journal.Header, b *runbook.Runbook) string {
	text = shipped.ReplaceAllStringFunc(text, func(found string) string {
		parts := shipped.FindStringSubmatch(found)
		if parts[2] != h.Runbook || parts[3] != "" || strings.HasPrefix(parts[1], "plimsoll") {
			return found
		}
		command := parts[1] + "plimsoll runbook plan " + h.Runbook + hint.Flags("--cluster", h.Cluster)
		for _, name := range document.SortedKeys(h.Inputs) {
			value, usual := runbook.AsTyped(h.Inputs[name]), b.Inputs[name].Default
			if (usual == nil || usual.Text != value) && !strings.Contains(parts[4], " -i "+name+"=") {
				command += hint.Flags("-i", name+"="+value)
			}
		}
		return command + parts[4]
	})
	return OnCluster(text, h.Cluster)
}

// disksOf names the cluster to each command that shows Super Disks and names none yet.
func disksOf(text, cluster string) string {
	before, after, found := strings.Cut(text, ofDisks)
	if !found {
		return text
	}
	rest := disksOf(after, cluster)
	if named, is := strings.CutPrefix(after, " "+cluster); inWord(after) || is && !inWord(named) {
		return before + ofDisks + rest
	}
	return before + ofDisks + " " + cluster + rest
}

// inWord tells whether a text begins in the middle of a word.
func inWord(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return size > 0 && (r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
