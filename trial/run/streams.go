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
	ring, is := engine.As[engine.Ringed](d.db)
	if !is {
		return nil
	}
	all, err := ring.Streams(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.note("Plimsoll could not read when the nodes streamed data: %v.", err)
		}
		return nil
	}
	return all
}

// flowing books the periods, since a time, in which data moved between nodes. Those of one operation that touch are one.
func (d *cellRun) flowing(all []engine.Stream, since time.Time) []judge.Span {
	flows := flowsOf(all, since, time.Now())
	spans := make([]judge.Span, len(flows))
	for i, f := range flows {
		spans[i] = f.Span
		event := func(at time.Time, kind series.EventKind, detail map[string]any) {
			d.happened(series.Event{Time: at, Kind: kind, Name: f.Key, Cell: d.cell.Name, Round: d.round, Detail: detail})
		}
		event(f.From, series.StreamStart, nil)
		detail := map[string]any{"seconds": f.To.Sub(f.From).Seconds(), "streams": len(f.streams)}
		if bytes := f.bytes(); bytes > 0 { // not every engine tells
			detail["megabytes"] = float64(bytes) / 1e6
		}
		event(f.To, series.StreamEnd, detail)
	}
	return spans
}

// flow is a period with streams of one operation.
type flow struct {
	judge.Span
	streams map[string]moved // by their ids
}

// moved is what the ends of a stream say of it, in bytes. All that is sent by one is received by another; an end that has left the ring
// says nothing any more.
type moved struct{ sent, received int64 }

// bytes that were moved. Of each stream it is what more is known of: all that its ends sent, or all that they received.
func (f flow) bytes() (n int64) {
	for _, m := range f.streams {
		n += max(m.sent, m.received)
	}
	return n
}

// flowsOf puts together what the nodes say of their streams since a time, in the order in which they began. A stream that
// goes on does so until now.
func flowsOf(all []engine.Stream, since, now time.Time) []flow {
	const apart = time.Second
	all = slices.DeleteFunc(slices.Clone(all), func(s engine.Stream) bool { return s.Began.Before(since) })
	slices.SortFunc(all, func(a, b engine.Stream) int { return a.Began.Compare(b.Began) })
	var flows []flow
	for _, s := range all {
		to := s.Updated
		if s.Status != "success" && s.Status != "failed" {
			to = now
		}
		key := strings.ToLower(s.Operation)
		at := slices.IndexFunc(flows, func(f flow) bool { return f.Key == key && s.Began.Sub(f.To) < apart })
		if at < 0 {
			at, flows = len(flows), append(flows, flow{judge.Span{Key: key, From: s.Began, To: to}, map[string]moved{}})
		}
		f := &flows[at]
		f.To = judge.Later(f.To, to)
		m := f.streams[s.ID] // its ends are told one by one
		f.streams[s.ID] = moved{m.sent + s.Sent, m.received + s.Received}
	}
	return flows
}
