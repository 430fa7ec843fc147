package series

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"time"
)

// Logged is one interval of a latency log.
type Logged struct {
	Tag       string
	Start     time.Time
	Length    time.Duration
	Durations Snapshot
}

// ReadLatencyLog yields the intervals of a log that LatencyLog wrote, or another tool with absolute times and values in
// nanoseconds. After an error there is nothing more.
func ReadLatencyLog(r io.Reader) iter.Seq2[Logged, error] {
	return func(yield func(Logged, error) bool) {
		number := 0
		for line, err := range lines(r) {
			number++
			if err != nil {
				yield(Logged{}, fmt.Errorf("read latency log: %w", err))
				return
			}
			if len(line) == 0 || line[0] == '#' || line[0] == '"' {
				continue
			}
			entry, err := parseLogged(line)
			if err != nil {
				yield(Logged{}, fmt.Errorf("latency log line %d: %w", number, err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

func parseLogged(line []byte) (Logged, error) {
	var entry Logged
	if rest, tagged := bytes.CutPrefix(line, []byte("Tag=")); tagged {
		tag, rest, found := bytes.Cut(rest, []byte(","))
		if !found {
			return Logged{}, fmt.Errorf("a tag and nothing else")
		}
		entry.Tag, line = string(tag), rest
	}
	fields := bytes.Split(line, []byte(","))
	if len(fields) != 4 {
		return Logged{}, fmt.Errorf("%d fields, expected start, length, maximum, histogram", len(fields))
	}
	var start time.Duration
	if err := parseDecimal(string(fields[0]), time.Second, &start); err != nil {
		return Logged{}, fmt.Errorf("start: %w", err)
	}
	entry.Start = time.Unix(0, int64(start)).UTC()
	if err := parseDecimal(string(fields[1]), time.Second, &entry.Length); err != nil {
		return Logged{}, fmt.Errorf("length: %w", err)
	}
	var err error
	entry.Durations, err = decode(fields[3])
	return entry, err
}
