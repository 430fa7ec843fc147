package trial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
)

// replay builds the recording of a result from its files: tallies from series.csv, times from latency.hlog.
func replay(r *Result) (*recording, error) {
	times, err := readTimes(filepath.Join(r.Dir, latencyFile))
	if err != nil {
		return nil, err
	}
	out := &recording{}
	stretches := map[string]*stretch{}
	for _, row := range r.Seconds {
		where := series.Tag(row.Cell, strconv.Itoa(row.Round), row.Phase)
		s := stretches[where]
		if s == nil {
			s = out.begin(row.Cell, row.Round, row.Phase, row.Time, false)
			stretches[where] = s
		}
		s.to = row.Time.Add(row.Length)
		if row.Operation == allOperations {
			continue // summed up below, with its times
		}
		key := timesKey{series.Tag(row.Cell, strconv.Itoa(row.Round), row.Phase, row.Operation), row.Time.UnixMilli()}
		second := analyze.Second{Start: row.Time, Length: row.Length, Tally: row.Tally, Response: times[response][key]}
		second.Service = second.Response
		if service, open := times[service][key]; open {
			second.Service = service
		}
		s.each[row.Operation] = append(s.each[row.Operation], second)
	}
	for _, s := range out.stretches {
		s.sum()
	}
	return out, nil
}

// sum fills in all operations together from each.
func (s *stretch) sum() {
	at := map[time.Time][]series.Interval{}
	var order []time.Time
	for operation, seconds := range s.each {
		for _, x := range seconds {
			if at[x.Start] == nil {
				order = append(order, x.Start)
			}
			at[x.Start] = append(at[x.Start], series.Interval{
				Start: x.Start, Length: x.Length, Operation: operation, Tally: x.Tally, Response: x.Response, Service: x.Service,
			})
		}
	}
	sortTimes(order)
	for _, start := range order {
		s.all = append(s.all, analyze.FromInterval(series.Together(start, at[start][0].Length, at[start])))
	}
}

// timesKey names one second of one operation: its place, and its start in milliseconds, which is what a latency log keeps.
type timesKey struct {
	place string
	start int64
}

func readTimes(path string) (map[basis]map[timesKey]series.Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open latency log: %w", err)
	}
	defer f.Close()
	out := map[basis]map[timesKey]series.Snapshot{response: {}, service: {}}
	for logged, err := range series.ReadLatencyLog(f) {
		if err != nil {
			return nil, err
		}
		parts := series.TagParts(logged.Tag)
		if len(parts) != 5 {
			return nil, errors.New("open latency log: its tags are not those of a result")
		}
		kind := basis(parts[4])
		if out[kind] == nil {
			continue
		}
		out[kind][timesKey{series.Tag(parts[:4]...), logged.Start.UnixMilli()}] = logged.Durations
	}
	return out, nil
}
