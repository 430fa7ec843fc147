package series

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"math"
	"time"
)

// Logged is one interval of a latency log.
type Logged struct {
	Tag       string
	Start     time.Time
	Length    time.Duration
	Durations Snapshot
}

// LineError is what is wrong with a line of a file.
type LineError struct {
	File string // what kind of file it is
	Line int    // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s line %d: %v", e.File, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// ReadLatencyLog yields the intervals of a log that LatencyLog wrote, or another tool. Values are taken for nanoseconds: the
// format does not say their unit. After an error there is nothing more.
func ReadLatencyLog(r io.Reader) iter.Seq2[Logged, error] {
	return func(yield func(Logged, error) bool) {
		number := 0
		var clock logClock
		for line, err := range lines(r) {
			number++
			if err != nil {
				yield(Logged{}, fmt.Errorf("read latency log: %w", err))
				return
			}
			if len(line) == 0 || line[0] == '"' {
				continue
			}
			var entry Logged
			if line[0] == '#' {
				err = clock.note(line)
			} else {
				entry, err = parseLogged(line, &clock)
			}
			if err != nil {
				yield(Logged{}, &LineError{"latency log", number, err})
				return
			}
			if line[0] == '#' {
				continue
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// logClock is what a log's comments say of its times, since the epoch.
type logClock struct {
	start, base    time.Duration
	started, based bool
}

// note reads a comment. One that says nothing of times is passed over.
func (c *logClock) note(line []byte) error {
	for _, n := range []struct {
		word  string
		at    *time.Duration
		known *bool
	}{{"#[StartTime:", &c.start, &c.started}, {"#[BaseTime:", &c.base, &c.based}} {
		rest, found := bytes.CutPrefix(line, []byte(n.word))
		if !found {
			continue
		}
		number, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
		if err := parseDecimal(string(bytes.TrimRight(number, ",]")), time.Second, n.at); err != nil {
			return fmt.Errorf("%s %w", n.word[2:], err)
		}
		*n.known = true
	}
	return nil
}

// absolute is when an interval began that a line says began at: times are counted from the base where one is stated, and
// else from the start if they lie more than a year before it, which is the rule of HdrHistogram's own reader.
func (c *logClock) absolute(at time.Duration) (time.Time, error) {
	const year = 365 * 24 * time.Hour
	if !c.based {
		c.based = true
		if c.started && at < c.start-year {
			c.base = c.start
		}
	}
	if at > math.MaxInt64-max(c.base, 0) {
		return time.Time{}, fmt.Errorf("%v after the base time is out of range", at)
	}
	return time.Unix(0, int64(c.base+at)).UTC(), nil
}

func parseLogged(line []byte, clock *logClock) (Logged, error) {
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
	var err error
	if entry.Start, err = clock.absolute(start); err != nil {
		return Logged{}, err
	}
	if err := parseDecimal(string(fields[1]), time.Second, &entry.Length); err != nil {
		return Logged{}, fmt.Errorf("length: %w", err)
	}
	entry.Durations, err = decode(fields[3])
	return entry, err
}
