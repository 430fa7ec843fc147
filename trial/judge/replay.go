package judge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"plimsoll/result"

	"plimsoll/load"
	"plimsoll/series"
)

// replay builds the recording of a result from its files: tallies from series.csv, times from latency.hlog.
func replay(r *result.Result) (*Recording, error) {
	times, err := readTimes(filepath.Join(r.Dir, result.LatencyFile))
	if err != nil {
		return nil, err
	}
	out := &Recording{}
	periods, operations := map[string]*PhaseRecord{}, map[string][]string{}
	for _, row := range r.Seconds {
		where := series.Tag(row.Cell, strconv.Itoa(row.Round), row.Phase)
		if row.Operation != result.AllOperations && !slices.Contains(operations[where], row.Operation) {
			operations[where] = append(operations[where], row.Operation)
		}
	}
	var second load.Second // whose rows are being read; the row of all operations comes last and closes it
	for _, row := range r.Seconds {
		if row.Operation != result.AllOperations {
			second.Operations = append(second.Operations, times.interval(row))
			continue
		}
		where := series.Tag(row.Cell, strconv.Itoa(row.Round), row.Phase)
		if periods[where] == nil {
			periods[where] = out.Begin(PhaseRecord{Cell: row.Cell, Round: row.Round, Phase: row.Phase, From: row.Time, Operations: operations[where]})
		}
		second.Start, second.Length = row.Time, row.Length
		periods[where].Add(second)
		second = load.Second{}
	}
	return out, nil
}

// timesKey names one second of one operation: its place, and its start in milliseconds, which is what a latency log keeps.
type timesKey struct {
	place string
	start int64
}

// logged are the response and service times of every second of a result.
type logged map[result.Basis]map[timesKey]series.Snapshot

// interval is what a row of series.csv was made of.
func (l logged) interval(row series.Row) series.Interval {
	key := timesKey{series.Tag(row.Cell, strconv.Itoa(row.Round), row.Phase, row.Operation), row.Time.UnixMilli()}
	i := series.Interval{Start: row.Time, Length: row.Length, Operation: row.Operation, Tally: row.Tally, Response: l[result.Response][key]}
	i.Service = i.Response
	if times, open := l[result.Service][key]; open {
		i.Service = times
	}
	return i
}

func readTimes(path string) (logged, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open latency log: %w", err)
	}
	defer f.Close()
	out := logged{result.Response: {}, result.Service: {}}
	for entry, err := range series.ReadLatencyLog(f) {
		if err != nil {
			return nil, err
		}
		parts := series.TagParts(entry.Tag)
		if len(parts) != 5 {
			return nil, errors.New("open latency log: its tags are not those of a result")
		}
		kind := result.Basis(parts[4])
		if out[kind] == nil {
			continue
		}
		out[kind][timesKey{series.Tag(parts[:4]...), entry.Start.UnixMilli()}] = entry.Durations
	}
	return out, nil
}
