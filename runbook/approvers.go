package runbook

import (
	"fmt"
	"strings"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

// Approvers says who may approve the steps of a run in production.
type Approvers string

// The approvers.
const (
	ByOther  Approvers = "other"  // anyone but the person who began the run
	ByAnyone Approvers = "anyone" // that person too
)

// UnmarshalDocument reads other or anyone.
func (a *Approvers) UnmarshalDocument(n *document.Node) error {
	*a = Approvers(n.Text)
	return oneOf(n, "approver", string(ByOther), string(ByAnyone))
}

// MayApprove refuses a person who may not approve a step: the one who began the run, where somebody else must look.
func (s *State) MayApprove(i *Item, who string) error {
	notRequester := i.Step.Approval != nil && i.Step.Approval.NotRequester
	if !notRequester && s.Header.Approvers != ByOther || !samePerson(who, s.Header.By) {
		return nil
	}
	if notRequester {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s began the run, and step %s must be approved by somebody else", s.Header.By, i.Key),
			Advice: "the runbook says so (not_requester): ask a colleague to approve",
		}
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s began the run, and in production somebody else approves", s.Header.By),
		Advice: "ask a colleague to approve; approvals: {by: anyone} in plimsoll.yaml lets who began a run approve it",
	}
}

// samePerson compares names of the operating system, user@host: one person is the same on every host.
func samePerson(a, b string) bool {
	a, _, _ = strings.Cut(a, "@")
	b, _, _ = strings.Cut(b, "@")
	return a == b
}
