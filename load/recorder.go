package load

import (
	"sync"
	"time"

	"plimsoll/series"
)

// recorder adds up what the workers' journals hold, by the second and for the whole run.
type recorder struct {
	operations []string
	openLoop   bool

	mu       sync.Mutex
	second   *page             // what has ended since the last turn of the page
	examples map[string]string // the first text of each class of error

	spare, total *page // belong to the one who turns the pages
}

// page is what was booked in some time.
type page struct {
	operations []account
	lag        *series.Histogram
}

// account is what was booked of one operation.
type account struct {
	series.Tally
	classes                 map[string]int64
	response, service, wait *series.Histogram
}

func newRecorder(operations []string, openLoop bool) *recorder {
	r := &recorder{operations: operations, openLoop: openLoop, examples: map[string]string{}}
	r.second, r.spare, r.total = r.newPage(), r.newPage(), r.newPage()
	return r
}

// newPage leaves out the histograms that a closed loop has no use for: its response is its service, its wait nothing.
func (r *recorder) newPage() *page {
	p := &page{operations: make([]account, len(r.operations))}
	for i := range p.operations {
		a := &p.operations[i]
		a.response = series.NewHistogram()
		if r.openLoop {
			a.service, a.wait = series.NewHistogram(), series.NewHistogram()
		}
	}
	if r.openLoop {
		p.lag = series.NewHistogram()
	}
	return p
}

// drain empties a worker's journal.
func (r *recorder) drain(j *journal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries[:j.used] {
		r.second.book(e)
	}
	j.used = 0
}

func (p *page) book(e entry) {
	a := &p.operations[e.operation]
	a.Scheduled++
	switch e.fate {
	case skipped:
		a.Skipped++
		return
	case done:
		a.Done++
	case late:
		a.Late++
	}
	a.response.Record(e.response)
	if p.lag != nil {
		a.service.Record(e.service)
		a.wait.Record(e.response - e.service)
		p.lag.Record(e.lag)
	}
}

// failed books an operation that ended as an error, at once: there should be few.
func (r *recorder) failed(operation int, class, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &r.second.operations[operation]
	a.Scheduled++
	a.Errors++
	if a.classes == nil {
		a.classes = map[string]int64{}
	}
	a.classes[class]++
	if _, known := r.examples[class]; !known {
		r.examples[class] = text
	}
}

// turn returns the intervals that end now, one for each operation of which any ended, and the start lags. The workers wait
// for no more than the exchange of two pages.
func (r *recorder) turn(start time.Time, length time.Duration) ([]series.Interval, series.Snapshot) {
	r.mu.Lock()
	full := r.second
	r.second = r.spare
	r.mu.Unlock()

	var intervals []series.Interval
	for i := range full.operations {
		if full.operations[i].Scheduled > 0 {
			interval := full.operations[i].interval(r.operations[i])
			interval.Start, interval.Length = start, length
			intervals = append(intervals, interval)
			r.total.operations[i].add(interval)
			full.operations[i].reset()
		}
	}
	var lag series.Snapshot
	if full.lag != nil {
		lag = full.lag.Snapshot()
		full.lag.Reset()
	}
	r.spare = full
	return intervals, lag
}

func (a *account) interval(operation string) series.Interval {
	i := series.Interval{Operation: operation, Tally: a.Tally, ErrorClasses: a.classes, Response: a.response.Snapshot()}
	i.Service = i.Response
	if a.service != nil {
		i.Service, i.Wait = a.service.Snapshot(), a.wait.Snapshot()
	}
	return i
}

func (a *account) add(i series.Interval) {
	a.Tally = a.Plus(i.Tally)
	for class, n := range i.ErrorClasses {
		if a.classes == nil {
			a.classes = map[string]int64{}
		}
		a.classes[class] += n
	}
	a.response.Add(i.Response)
	if a.service != nil {
		a.service.Add(i.Service)
		a.wait.Add(i.Wait)
	}
}

func (a *account) reset() {
	a.Tally, a.classes = series.Tally{}, nil
	a.response.Reset()
	if a.service != nil {
		a.service.Reset()
		a.wait.Reset()
	}
}
