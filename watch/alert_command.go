package watch

import "strings"

// trialFolder begins the runbook of an alert that is a trial and no runbook.
const trialFolder = "examples/"

// Trial is the file of the trial that shows what to do about the alert; "" if it names a runbook, or neither.
func (a Alert) Trial() string {
	if strings.HasPrefix(a.Runbook, trialFolder) {
		return a.Runbook
	}
	return ""
}

// Command is the command that does something about the alert: it plans its runbook on its cluster, or runs its trial. "" if its rule names
// neither; a rule of somebody's own may have an address there.
func (a Alert) Command() string {
	cluster := a.Labels["cluster"]
	if cluster == "" {
		cluster, _, _ = strings.Cut(a.Instance, "/")
	}
	switch {
	case a.Runbook == "", strings.Contains(a.Runbook, "://"):
		return ""
	case a.Trial() != "":
		return "plimsoll trial run " + a.Runbook
	case cluster == "":
		return "plimsoll runbook plan " + a.Runbook
	}
	return "plimsoll runbook plan " + a.Runbook + " --cluster " + cluster
}
