package loadcmd

import (
	"context"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/engine"
	"plimsoll/workload"
)

// writes is what became of the writes that a ledger remembered.
type writes struct {
	Acknowledged int64 `json:"acknowledged"`
	Lost         int   `json:"lost"`
	Duplicated   int   `json:"duplicated"`
	Corrupt      int   `json:"corrupt"`
	Stale        int   `json:"stale_reads"`
	InDoubt      int64 `json:"in_doubt"`
	Found        int64 `json:"in_doubt_found"`
}

// auditLoad asks a workload that keeps a ledger what became of its writes, also after an interrupt; nil of one that keeps
// none.
func auditLoad(ctx context.Context, c console.Streams, db engine.Database, w workload.Workload) (*workload.Audit, error) {
	audited, is := w.(workload.Audited)
	if !is {
		return nil, nil
	}
	const most = 10 * time.Minute
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	p := console.NewProgress(c, "audit")
	defer p.Close()
	return audited.Audit(ctx, db, p.Update)
}

func writesOf(a *workload.Audit) *writes {
	if a == nil {
		return nil
	}
	return &writes{
		Acknowledged: a.Acknowledged, Lost: len(a.Lost), Duplicated: len(a.Duplicated), Corrupt: len(a.Corrupt), Stale: len(a.Stale),
		InDoubt: a.InDoubt, Found: a.Found,
	}
}
