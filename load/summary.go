package load

import (
	"time"

	"plimsoll/series"
)

// Summary is what a load was in all. The histograms of its seconds are added up exactly.
type Summary struct {
	Start      time.Time
	Length     time.Duration // until it stopped or, where that is later, its last operation was done
	All        series.Interval
	Operations []series.Interval // those that were scheduled at all
	Examples   map[string]string // the text of the first error of each class
	CPU        time.Duration     // processor time of this process
	MaxRSS     series.Bytes      // the most memory that this process has held
	Broken     []string          // why the measurement is INVALID whatever the guard says: a loader died, clocks ran apart
}

// CPUPerOperation is the processor time for each operation that was sent.
func (s Summary) CPUPerOperation() time.Duration {
	sent := s.All.Done + s.All.Late + s.All.Errors
	return s.CPU / time.Duration(max(sent, 1))
}

func (c *clockwork) summary() Summary {
	s := Summary{
		Start:    c.at(0),
		Length:   c.stopAt(),
		Examples: c.recorder.examples,
		CPU:      c.cpu - c.cpuAtStart,
		MaxRSS:   maxRSS(),
	}
	for _, w := range c.workers {
		s.Length = max(s.Length, w.lastDone)
	}
	for i := range c.recorder.total.operations {
		if a := &c.recorder.total.operations[i]; a.Scheduled > 0 {
			interval := a.interval(c.spec.Operations[i])
			interval.Start, interval.Length = s.Start, s.Length
			s.Operations = append(s.Operations, interval)
		}
	}
	s.All = series.Together(s.Start, s.Length, s.Operations)
	s.All.Operation = "all"
	return s
}
