package run

import (
	"context"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/series"
	"plimsoll/trial/judge"
)

// streams are the transfers of data between the nodes of a ring, as they date them themselves. An engine without rings has none.
func (d *cellRun) streams(ctx context.Context) []engine.Stream {
	ring, is := d.db.(engine.Ringed)
	if !is {
		return nil
	}
	all, err := ring.Streams(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.note("When the nodes streamed data is not known: %v.", err)
		}
		return nil
	}
	return all
}

// flowing books the stretches, since a time, in which data moved between nodes. Those of one operation that touch are one.
func (d *cellRun) flowing(all []engine.Stream, since time.Time) []judge.Span {
	flows := flowsOf(all, since, time.Now())
	spans := make([]judge.Span, len(flows))
	for i, f := range flows {
		spans[i] = f.Span
		event := func(at time.Time, kind series.EventKind, detail map[string]any) {
			d.happened(series.Event{Time: at, Kind: kind, Name: f.Key, Cell: d.cell.Name, Round: d.round, Detail: detail})
		}
		event(f.From, series.StreamStart, nil)
		detail := map[string]any{"seconds": f.To.Sub(f.From).Seconds(), "streams": f.streams}
		if bytes := max(f.sent, f.received); bytes > 0 { // not every engine tells
			detail["megabytes"] = float64(bytes) / 1e6
		}
		event(f.To, series.StreamEnd, detail)
	}
	return spans
}

// flow is a stretch of time with streams of one operation.
type flow struct {
	judge.Span
	sent     int64 // bytes
	received int64 // as the other ends tell it, who stay where the sender has left
	streams  int
}

// flowsOf puts together what the nodes say of their streams since a time, in the order in which they began. A stream that
// goes on does so until now.
func flowsOf(all []engine.Stream, since, now time.Time) []flow {
	const apart = time.Second
	all = slices.DeleteFunc(slices.Clone(all), func(s engine.Stream) bool { return s.Began.Before(since) })
	slices.SortFunc(all, func(a, b engine.Stream) int { return a.Began.Compare(b.Began) })
	var flows []flow
	seen := map[string]bool{} // both ends of a stream tell it
	for _, s := range all {
		to := s.Updated
		if s.Status != "success" && s.Status != "failed" {
			to = now
		}
		key := strings.ToLower(s.Operation)
		at := slices.IndexFunc(flows, func(f flow) bool { return f.Key == key && s.Began.Sub(f.To) < apart })
		if at < 0 {
			at, flows = len(flows), append(flows, flow{Span: judge.Span{Key: key, From: s.Began, To: to}})
		}
		f := &flows[at]
		f.To = judge.Later(f.To, to)
		f.sent, f.received = f.sent+s.Sent, f.received+s.Received
		if !seen[s.ID] {
			seen[s.ID] = true
			f.streams++
		}
	}
	return flows
}
