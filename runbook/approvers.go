package runbook

import (
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
