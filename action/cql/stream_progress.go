package cql

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/engine"
)

// flow is the data that nodes send one another for a change, from when it was first looked at. How far it is never goes back,
// though streams begin while others have ended.
type flow struct {
	before map[string]bool // streams that had ended when it was first looked at; nil: it was not
	share  float64
	total  int64 // bytes of all that was seen
}

// told reports the data under way as the progress of an act.
func (f *flow) told(ctx context.Context, v view, c action.Call, otherwise string) {
	all, err := v.db.Streams(ctx)
	if err != nil {
		c.Progress(f.known(), otherwise)
		return
	}
	if f.before == nil {
		f.before = map[string]bool{}
		for _, s := range all {
			if ended(s) {
				f.before[transfer(s)] = true
			}
		}
	}
	var sent, total int64
	under := 0
	for _, s := range all {
		switch {
		case f.before[transfer(s)] || s.Status == "failed":
		case s.Status == "success":
			sent, total = sent+s.ToSend, total+s.ToSend
		case s.ToSend > 0:
			sent, total, under = sent+s.Sent, total+s.ToSend, under+1
		}
	}
	if total == 0 {
		c.Progress(f.known(), otherwise)
		return
	}
	f.total = max(f.total, total)
	f.share = max(f.share, float64(sent)/float64(total))
	said := fmt.Sprintf("%.1f of %.1f MB sent; %s", float64(sent)/1e6, float64(total)/1e6, otherwise)
	if under > 0 {
		said = fmt.Sprintf("%.1f of %.1f MB in %d streams", float64(sent)/1e6, float64(total)/1e6, under)
	}
	c.Progress(f.share, said)
}

// known is the share that was told last; negative if none was.
func (f *flow) known() float64 {
	if f.share == 0 {
		return -1
	}
	return f.share
}

// transfer names one node's side of a stream.
func transfer(s engine.Stream) string { return s.Node + " " + s.ID }

func ended(s engine.Stream) bool { return s.Status == "success" || s.Status == "failed" }
