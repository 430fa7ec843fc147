package load_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
	"plimsoll/series"
)

// lateAlarm is a machine that wakes its workers late.
type lateAlarm struct {
	load.Alarm
	by time.Duration
}

func (a lateAlarm) Set(after time.Duration) { a.Alarm.Set(after + a.by) }

func alarmsLate(by time.Duration) func() (load.Alarm, error) {
	return func() (load.Alarm, error) {
		a, err := load.NewTimer()
		return lateAlarm{a, by}, err
	}
}

func guards(seconds []load.Second) (all []load.GuardSecond) {
	for _, s := range seconds {
		all = append(all, s.Guard)
	}
	return all
}

// What a generator wakes too late for is start lag, and response time, but not the cap's nor the server's.
func TestStartLagIsOurs(t *testing.T) {
	const by = 3 * time.Millisecond
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 10, Duration: 5 * time.Second,
		Schedule: schedule(t, load.Uniform, load.Constant(100)), NewAlarm: alarmsLate(by),
	}
	out := run(t, spec, &loadtest.Server{Service: fixed(16 * time.Millisecond)}, nil)
	near(t, "response", out.All.Response.Quantile(0.5), 19*time.Millisecond, 0.001)
	near(t, "service", out.All.Service.Quantile(0.5), 16*time.Millisecond, 0.001)
	near(t, "wait", out.All.Wait.Quantile(0.5), by, 0.001)
	for i, s := range out.seconds {
		near(t, "start lag", s.Guard.StartLagP99, by, 0.001)
		if s.Guard.CapShare > 0 {
			t.Errorf("second %d: at the cap for %v of it", i, s.Guard.CapShare)
		}
	}
	if reasons := load.Judge(guards(out.seconds), out.All.Response); len(reasons) != 1 || !strings.Contains(reasons[0].String(), "started late") {
		t.Errorf("judged %q", reasons)
	}
}

// An operation that starts late and takes the last connection does not make the lag before it time at the cap.
func TestLagBeforeTheCap(t *testing.T) {
	// One connection; every 10 ms two operations 1 ms apart, the first woken for 3 ms late: the second waits from its
	// due time, 1 ms, until 3 ms for our lateness, and from then until 5 ms, when the first ends, at the cap.
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 1, Duration: 5 * time.Second,
		Schedule: pairs{}, NewAlarm: alarmsLate(3 * time.Millisecond),
	}
	out := run(t, spec, &loadtest.Server{Service: fixed(2 * time.Millisecond)}, nil)
	for i, s := range out.seconds {
		if g := s.Guard; g.CapShare < 0.195 || g.CapShare > 0.205 {
			t.Errorf("second %d: at the cap for %v of it, want 0.2", i, g.CapShare)
		}
	}
}

type pairs struct{}

func (pairs) Recipe() (load.Recipe, bool) { return load.Recipe{}, false }
func (pairs) Rate(time.Duration) float64  { return 200 }
func (pairs) Arrivals() func() (time.Duration, bool) {
	i := 0
	return func() (time.Duration, bool) {
		due := time.Duration(5+i/2*10+i%2) * time.Millisecond
		i++
		return due, true
	}
}

// A connection that waits for its next operation for longer than the timeout is not one that hangs.
func TestIdleConnectionsAreLeftAlone(t *testing.T) {
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 3, Duration: time.Minute, Timeout: 300 * time.Millisecond,
		Schedule: schedule(t, load.Uniform, load.Constant(1)),
	}
	out := run(t, spec, &loadtest.Server{Service: fixed(time.Millisecond)}, nil)
	if out.All.Done != 60 {
		t.Errorf("%+v, %v", out.All.Tally, out.All.ErrorClasses)
	}
}

// Too few connections for the rate are a cap, not a lag.
func TestCapIsNotLag(t *testing.T) {
	server := &loadtest.Server{Service: fixed(10 * time.Millisecond)}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 3, Duration: 10 * time.Second,
		Schedule: schedule(t, load.Uniform, load.Constant(400)),
	}
	out := run(t, spec, server, nil)
	for i, s := range out.seconds {
		if s.Guard.StartLag.Max() > 0 || i > 0 && s.Guard.CapShare < 0.99 {
			t.Errorf("second %d: %+v", i, s.Guard)
		}
		// 300 of 400 a second are served.
		if want := int64(100 * (i + 1)); i < 9 && (s.Guard.Backlog < want-5 || s.Guard.Backlog > want+5) {
			t.Errorf("second %d ends with a backlog of %d", i, s.Guard.Backlog)
		}
	}
	if out.All.Done < 2998 || out.All.Done > 3003 || out.All.Scheduled != 4000 {
		t.Errorf("%+v", out.All.Tally)
	}
	if reasons := load.Judge(guards(out.seconds), out.All.Response); len(reasons) != 1 || !strings.Contains(reasons[0].String(), "connections were busy") {
		t.Errorf("judged %q", reasons)
	}
}

func TestJudge(t *testing.T) {
	of := func(d time.Duration, n int64) series.Snapshot {
		h := series.NewHistogram()
		h.RecordN(d, n)
		return h.Snapshot()
	}
	lag := func(d time.Duration, n int64) load.GuardSecond { return load.GuardSecond{StartLag: of(d, n)} }
	fast, slow := of(time.Millisecond, 100), of(100*time.Millisecond, 100)
	for _, c := range []struct {
		name     string
		seconds  []load.GuardSecond
		response series.Snapshot
		want     string // "": valid
	}{
		{"nothing measured", nil, series.Snapshot{}, ""},
		{"on time", []load.GuardSecond{lag(900*time.Microsecond, 10)}, fast, ""},
		{"late", []load.GuardSecond{lag(1100*time.Microsecond, 10)}, fast, "(p99 1.1 ms, allowed 1.0 ms: 5 % of the median response time of 1.0 ms, 1 ms at least; the p99 response time, which includes it, is 1.0 ms)"},
		{"late, but the server is slower by far", []load.GuardSecond{lag(4*time.Millisecond, 10)}, slow, ""},
		{"late even so", []load.GuardSecond{lag(6*time.Millisecond, 10)}, slow, "allowed 5.0 ms"},
		{"one operation in a thousand", []load.GuardSecond{lag(0, 999), lag(time.Second, 1)}, fast, ""},
		{"two in a hundred, of a second that weighs little", []load.GuardSecond{lag(0, 10000), {StartLag: of(time.Second, 20)}}, fast, ""},
		{"at the cap for a moment", []load.GuardSecond{{CapShare: 0.001}, {}}, fast, ""},
		{"at the cap", []load.GuardSecond{{CapShare: 0.01}, {}}, fast, "give it more connections"},
		{"busy", []load.GuardSecond{{CPUShare: 0.75}, {CPUShare: 0.83}}, fast, ""},
		{"without a turn for a moment", []load.GuardSecond{{Stall: 49 * time.Millisecond}, {Stall: 49 * time.Millisecond}}, fast, ""},
		{"without a turn", []load.GuardSecond{{Stall: 300 * time.Millisecond}, {}}, fast, "300ms at a time, 15.0 %"},
		{"starved", []load.GuardSecond{{CPUShare: 0.85}, {CPUShare: 0.83}}, fast, "84 %"},
	} {
		reasons := load.Judge(c.seconds, c.response)
		if c.want == "" && len(reasons) > 0 || c.want != "" && (len(reasons) != 1 || !strings.Contains(reasons[0].String(), c.want)) {
			t.Errorf("%s: %q", c.name, reasons)
		}
	}
}
