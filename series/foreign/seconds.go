package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/series"
)

const (
	// window is how long a second stays open for what is written late: a tool writes what ends at the same time in any order.
	window = 10
	// mostOperations is how many operations are told apart; names made of keys would fill the memory.
	mostOperations = 32
	// longestSilence is how many seconds without any operation are written out. More is another run in the same file.
	longestSilence = 3600
)

// others is where operations are counted that are too many to tell apart.
const others = "others"

// seconds sorts single operations into seconds of all operations. Memory does not grow with the number of operations.
type seconds struct {
	about *About
	into  sink

	open   map[int64]*second
	names  map[string]string // copies, of themselves
	newest int64
	next   int64 // everything before it is written; 0 before anything is
	free   []*series.Histogram
}

type second struct {
	done   map[string]*series.Histogram
	errors map[string]map[string]int64 // by operation and class
}

func newSeconds(about *About, into sink) *seconds {
	return &seconds{about: about, into: into, open: map[int64]*second{}, names: map[string]string{}}
}

// add counts an operation that ended in a second since the epoch. A class makes it an error.
func (s *seconds) add(at int64, operation, class string, took time.Duration) error {
	if s.next > 0 && at < s.next {
		return fmt.Errorf("%s comes after %s: the file is not sorted by time, to within %d s",
			stamp(at), stamp(s.newest), window)
	}
	if at > s.newest {
		s.newest = at
		if err := s.write(at - window); err != nil {
			return err
		}
	}
	second := s.open[at]
	if second == nil {
		second = newSecond()
		s.open[at] = second
	}
	operation = s.name(operation)
	if class != "" {
		second.fail(operation, class)
		return nil
	}
	times := second.done[operation]
	if times == nil {
		times = s.histogram()
		second.done[operation] = times
	}
	times.Record(took)
	return nil
}

func newSecond() *second {
	return &second{done: map[string]*series.Histogram{}, errors: map[string]map[string]int64{}}
}

func (s *second) fail(operation, class string) {
	classes := s.errors[operation]
	if classes == nil {
		classes = map[string]int64{}
		s.errors[operation] = classes
	}
	if classes[class] == 0 {
		class = strings.Clone(class)
	}
	classes[class]++
}

// name is what an operation counts under. The text is the reader's to reuse; what is kept is a copy.
func (s *seconds) name(operation string) string {
	if kept, known := s.names[operation]; known {
		return kept
	}
	if len(s.names) >= mostOperations {
		if _, told := s.names[others]; !told {
			s.names[others] = others
			s.about.Notes = append(s.about.Notes, fmt.Sprintf("there are more than %d kinds of operations: the further ones are counted as %s", mostOperations, others))
		}
		return others
	}
	kept := strings.Clone(operation)
	s.names[kept] = kept
	return kept
}

func (s *seconds) histogram() *series.Histogram {
	if n := len(s.free); n > 0 {
		h := s.free[n-1]
		s.free = s.free[:n-1]
		return h
	}
	return series.NewHistogram()
}

// finish writes what is still open.
func (s *seconds) finish() error { return s.write(s.newest + 1) }

// write hands over the seconds before end, the empty ones among them too: nothing having ended in a second is a measurement.
func (s *seconds) write(end int64) error {
	for _, at := range slices.Sorted(maps.Keys(s.open)) {
		if at >= end {
			return nil
		}
		if s.next > 0 && at-s.next <= longestSilence {
			for ; s.next < at; s.next++ {
				if err := s.into(time.Unix(s.next, 0).UTC(), time.Second, nil); err != nil {
					return err
				}
			}
		}
		if err := s.hand(at); err != nil {
			return err
		}
		s.next = at + 1
	}
	return nil
}

func (s *seconds) hand(at int64) error {
	second, start := s.open[at], time.Unix(at, 0).UTC()
	delete(s.open, at)
	var operations []series.Interval
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		times, failed := second.done[name], second.errors[name]
		if times == nil && failed == nil {
			continue
		}
		var counted series.Snapshot
		if times != nil {
			counted = times.Snapshot()
			times.Reset()
			s.free = append(s.free, times)
		}
		operations = append(operations, s.about.interval(start, time.Second, name, counted, failed))
	}
	return s.into(start, time.Second, operations)
}

func stamp(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }
