package runbook

import "plimsoll/internal/document"

// Rules hold for every runbook in production.
type Rules struct {
	Gate      *Gate // of runbooks that say nothing of one; nil: they are refused
	Approvers Approvers
}

// ReadRules reads what the inventory says of gates and approvals; either may be nil.
func ReadRules(gate, approvals *document.Node) (Rules, error) {
	r := Rules{Approvers: ByOther}
	var ps document.Problems
	if gate != nil {
		r.Gate = &Gate{}
		ps.Add(gate, gate.Decode(r.Gate))
	}
	if approvals != nil {
		var said struct {
			By Approvers `yaml:"by,required"`
		}
		ps.Add(approvals, approvals.Decode(&said))
		r.Approvers = said.By
	}
	return r, ps.Err()
}
