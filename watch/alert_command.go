package watch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

// trialFolder begins the runbook of an alert that is a trial and no runbook.
const trialFolder = "examples/"

// Trial is the file of the trial that shows what to do about the alert; "" if it names a runbook, or neither.
func (a Alert) Trial() string {
	if strings.HasPrefix(a.Runbook, trialFolder) {
		return a.Runbook
	}
	return ""
}

// ID is what the alert is called in an address: the same as long as its rule and labels are.
func (a Alert) ID() string {
	text := a.Rule + "\n" + a.Instance
	for _, name := range document.SortedKeys(a.Labels) {
		text += "\n" + name + "=" + a.Labels[name]
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// Page is where the web page shows the alert, below its address.
func (a Alert) Page() string { return "/alerts/" + a.ID() }

// Cluster is the cluster that the alert is about; "" if it is about none, or several.
func (a Alert) Cluster() string {
	instance, _, _ := strings.Cut(a.Instance, "/")
	return cmp.Or(a.Labels["cluster"], instance)
}

// Given are the inputs that its rule knows of the runbook, each NAME=VALUE. The value is hint.FillIn where only a person knows it.
func (a Alert) Given() []string { return strings.Fields(a.Inputs) }

// Command is the command that does something about the alert: it plans its runbook on its cluster, or runs its trial. "" if its rule names
// neither; a rule of somebody's own may have an address there.
func (a Alert) Command() string {
	switch {
	case a.Runbook == "", strings.Contains(a.Runbook, "://"):
		return ""
	case a.Trial() != "":
		return "plimsoll trial run " + hint.Quoted(a.Runbook)
	}
	return "plimsoll runbook plan " + hint.Quoted(a.Runbook) + hint.Flags("--cluster", cmp.Or(a.Cluster(), hint.FillIn)) + hint.Flags("-i", a.Given()...)
}
