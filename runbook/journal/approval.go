package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/runbook"
)

// MayApprove refuses an approval by a person who may not give it: who began the run, where somebody else must look; who has approved the
// step before; who is not known, where people are counted. It also refuses one without a signature, where that is required.
func (s *State) MayApprove(i *Step, w Message) error {
	who := cmp.Or(w.Signer, w.By)
	notRequester := i.Step.Approval != nil && i.Step.Approval.NotRequester
	other := ByAnother(s, i)
	own := samePerson(w.By, s.Header.By) || w.Signer != "" && samePerson(w.Signer, s.Header.By)
	switch {
	case s.AsksSignature(i) && w.Signer == "":
		return &hint.PermanentError{
			Reason: fmt.Sprintf("step %s is approved with a signature of the person's ssh key", i.Key),
			Advice: "plimsoll runbook approve RUN --sign ~/.ssh/id_ed25519",
		}
	case (other || i.Approvals() > 1) && w.Signer == "" && w.Known == "":
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s is not a known account, and step %s counts the people who approve it", w.By, i.Key),
			Advice: "log in with an account of your own, on this system or on the web page, or sign: plimsoll runbook approve RUN --sign ~/.ssh/id_ed25519",
		}
	case own && notRequester:
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s began the run, and step %s must be approved by another person", s.Header.By, i.Key),
			Advice: "the runbook demands it (not_requester): " + askAnother(s),
		}
	case own && other:
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s began the run, and in production another person must approve", s.Header.By),
			Advice: askAnother(s) + ". With approvals: {by: anyone} in plimsoll.yaml, the person who begins a run may also give the approval, from the next run on",
		}
	case slices.ContainsFunc(i.Approved, func(before string) bool { return samePerson(before, who) }):
		return &hint.PermanentError{Reason: fmt.Sprintf("%s has approved step %s before", who, i.Key), Advice: "ask a colleague"}
	}
	return nil
}

// ByAnother tells whether somebody else than who began the run must approve a step.
func ByAnother(s *State, i *Step) bool {
	return i.Step.Approval != nil && i.Step.Approval.NotRequester || s.Header.Approvers == runbook.ByOther
}

// HowAnother is how that is done: what must be done, and then each of the ways in a line.
func HowAnother(s *State, step string) string {
	text := fmt.Sprintf("%s began the run, so another person must approve step %s:", s.Header.By, step)
	for _, way := range waysOfAnother(s) {
		text += "\n  - " + way
	}
	return text + " --step " + hint.Quoted(step)
}

// waysOfAnother are the two ways in which another person approves, the command last: the state folder of who began the run is for that account alone.
func waysOfAnother(s *State) []string {
	return []string{
		fmt.Sprintf("on the web page, as a user with the role approve: %s starts plimsoll serve --web-config FILE", s.Header.By),
		"on the command line, if both accounts keep runs in one Postgres (state: in plimsoll.yaml): plimsoll runbook approve RUN",
	}
}

// askAnother advises one of the ways.
func askAnother(s *State) string {
	return "ask another person: " + strings.Join(waysOfAnother(s), "; or ")
}

// AsksSignature tells whether a step is approved with an ssh key alone: in production where the inventory names the keys, and outside of labs
// where the runbook says so.
func (s *State) AsksSignature(i *Step) bool {
	return s.Header.DemandsSignature(i.Key) || s.Header.Environment != cluster.Lab && i.Step.Approval != nil && i.Step.Approval.Signed
}

// DemandsSignature is AsksSignature as far as the header tells: of a step whose target was not known when it was planned, it may not.
func (h Header) DemandsSignature(step string) bool {
	return h.Signers != "" && h.Environment == runbook.Production || slices.ContainsFunc(h.Plan.Steps, func(s PlanStep) bool { return s.Key == step && s.Signed })
}

// samePerson compares names of people. What follows an @, a host or a domain, anybody can choose: one person is the same on every host.
func samePerson(a, b string) bool {
	a, _, _ = strings.Cut(a, "@")
	b, _, _ = strings.Cut(b, "@")
	return a == b
}
