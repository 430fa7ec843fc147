package cql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
)

// homecoming is no ring: n2 is away, and n1 says what a real one says after hours and days.
type homecoming struct {
	members []engine.Member
	hints   []engine.Hint
	lost    bool
	scylla  bool // it has other tables
	window  string
	newest  time.Time // file of n2's; zero: none
	clock   time.Time // of n2's machine
	runs    bool
	starts  bool   // it starts; else errStarted ends what starts it
	folder  string // of n2's data, as it is known
}

func (h *homecoming) Facts(context.Context) (engine.Facts, error)              { return engine.Facts{}, nil }
func (h *homecoming) Close() error                                             { return nil }
func (h *homecoming) Streams(context.Context) ([]engine.Stream, error)         { return nil, nil }
func (h *homecoming) Tasks(context.Context) ([]engine.Task, error)             { return nil, nil }
func (h *homecoming) Hints(context.Context) ([]engine.Hint, error)             { return h.hints, nil }
func (h *homecoming) Change(context.Context, string, string) error             { return errors.New("not played") }
func (h *homecoming) SameValue(_, a, b string) bool                            { return a == b }
func (*homecoming) WhyInvalid(context.Context, string, string) (string, error) { return "", nil }
func (*homecoming) Becomes(context.Context, string, string) (string, error)    { return "", nil }
func (*homecoming) NeedsRestart(context.Context, string) (needs, known bool, err error) {
	return false, false, nil
}
func (*homecoming) Repairs(context.Context, string) ([]engine.Repair, error) { return nil, nil }
func (*homecoming) Sizes(context.Context, string) (map[string]int64, error)  { return nil, nil }
func (h *homecoming) Setting(_ context.Context, name string) (string, error) {
	switch {
	case name == "hinted_handoff_enabled":
		return "true", nil
	case name == "max_hint_window" && h.window != "":
		return h.window, nil
	}
	return "", &engine.Error{Kind: engine.Missing, Text: "no setting " + name}
}

func (h *homecoming) Ring(_ context.Context, asked string) (engine.Ring, error) {
	if h.lost {
		return engine.Ring{}, &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "no node can be reached"}
	}
	if h.scylla {
		return engine.Ring{}, fmt.Errorf("read the ring: %w", &engine.Error{Kind: engine.Missing, Code: "0x2200", Text: "unconfigured table gossip_info"})
	}
	return engine.Ring{Asked: asked, Members: h.members}, nil
}

// tables answers how long deletions are kept: those of orders for ten days. In a lab it lies in the keyspace plimsoll.
type tables struct{ engine.Session }

func (tables) Interrupt()   {}
func (tables) Close() error { return nil }
func (tables) Exec(_ context.Context, _ string, r *engine.Result) error {
	r.Columns, r.Rows = 3, 3
	r.Values = []engine.Value{
		engine.Chars([]byte("shop")), engine.Chars([]byte("orders")), engine.Int(864000),
		engine.Chars([]byte("plimsoll")), engine.Chars([]byte("usertable")), engine.Int(1036800),
		engine.Chars([]byte("system_distributed")), engine.Chars([]byte("repair_history")), engine.Int(60),
	}
	return nil
}

// filed is n2's machine, with its files.
type filed struct {
	infra.Machine
	h *homecoming
}

func (m filed) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	out := fmt.Sprintf("%d\n", m.h.clock.Unix())
	if !m.h.newest.IsZero() {
		out += fmt.Sprintf("%d.5000000000\n", m.h.newest.Unix())
	}
	return infra.Output{Stdout: []byte(out)}, nil
}

type maybeRuns struct {
	cluster.Server
	h *homecoming
}

func (s maybeRuns) Running(context.Context) (bool, error) { return s.h.runs, nil }

// errStarted ends a start that is not played.
var errStarted = errors.New("it was started")

func (s maybeRuns) Start(context.Context) error {
	s.h.runs = s.h.starts
	if !s.h.starts {
		return errStarted
	}
	return nil
}

func (s maybeRuns) Process(context.Context) (string, error) {
	if s.h.runs {
		return "4711", nil
	}
	return "0", nil
}

func (s maybeRuns) Stop(context.Context) error { s.h.runs = false; return nil }

func (h *homecoming) on() *cluster.Cluster {
	on := &cluster.Cluster{Name: "played", Engine: opening{h}, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{
			{Name: "n1", Target: engine.Target{Addresses: []string{"10.0.0.1:9042"}}},
			{Name: "n2", Target: engine.Target{Addresses: []string{"10.0.0.2:9042"}}, Machine: filed{h: h}, Server: maybeRuns{h: h}, Data: h.folder},
		}, nil
	}}
	on.Returning = func(ctx context.Context, node string) (bool, error) { return Returning(ctx, on, node) }
	return on
}

// opening is the engine of a homecoming.
type opening struct{ h *homecoming }

func (opening) Name() string { return "cql" }
func (o opening) Open(context.Context, engine.Target) (engine.Database, error) {
	return ringed{o.h}, nil
}

// ringed is its database.
type ringed struct{ *homecoming }

func (ringed) Session(context.Context) (engine.Session, error) { return tables{}, nil }

func gone(t *testing.T) *homecoming {
	t.Helper()
	now := time.Now().Truncate(time.Second) // a clock that is off is refused
	return &homecoming{folder: "/data", window: "3h", clock: now, newest: now.Add(-time.Minute), members: []engine.Member{
		{Host: "a", Address: "10.0.0.1:9042", Part: engine.Normal, Up: true},
		{Host: "b", Address: "10.0.0.2:9042", Part: engine.Normal},
	}}
}

func TestWhetherAMemberMayReturn(t *testing.T) {
	for _, c := range []struct {
		why            string
		change         func(*homecoming)
		task           mayReturn
		repair         string // of the output
		reason, advice string // of the refusal
		asks, later    string // a person; what an earlier step has to bring
	}{
		{why: "after a minute", repair: "no"},
		{why: "after a day", change: func(h *homecoming) { h.newest = h.clock.Add(-day) }, repair: "yes"},
		{why: "an hour, of a window that nobody tells", change: func(h *homecoming) { h.window, h.newest = "", h.clock.Add(-time.Hour) }, repair: "yes"},
		{why: "with data that lacks what was acknowledged", task: mayReturn{Stale: "yes"}, repair: "yes"},
		{why: "after eleven days", change: func(h *homecoming) { h.newest = h.clock.Add(-11 * day) },
			reason: "node n2 was away for 11d, and shop.orders keeps its deletions for 10d", advice: "cql/replace-node"},
		{why: "after eleven days, accepted", change: func(h *homecoming) { h.newest = h.clock.Add(-11 * day) }, task: mayReturn{Accept: "shop"}, repair: "yes"},
		{why: "after thirteen days, one keyspace accepted", change: func(h *homecoming) { h.newest = h.clock.Add(-13 * day) }, task: mayReturn{Accept: "shop"},
			reason: "plimsoll.usertable keeps its deletions for 12d", advice: "accept_resurrection=plimsoll"},
		{why: "it was removed", change: func(h *homecoming) { h.members = h.members[:1] }, reason: "the ring has no member at 10.0.0.2:9042", advice: "cql/add-node"},
		{why: "its files are not there", change: func(h *homecoming) { h.newest = time.Time{} }, later: "no data of a server at /data"},
		{why: "it runs", change: func(h *homecoming) { h.runs = true }, later: "node n2 is still running"},
		{why: "the clock is behind the files", change: func(h *homecoming) { h.newest = h.clock.Add(time.Hour) }, asks: "cannot tell for how long", repair: "yes"},
		{why: "the clock is an hour ahead", change: func(h *homecoming) { h.clock = h.clock.Add(time.Hour) }, reason: "ahead of the clock of this host", advice: "chronyc"},
		{why: "the clock is an hour behind", change: func(h *homecoming) { h.clock, h.newest = h.clock.Add(-time.Hour), h.newest.Add(-day) }, reason: "behind the clock of this host", advice: "chronyc"},
		{why: "nobody knows where its data is", change: func(h *homecoming) { h.folder = "" }, asks: "does not know where node n2 keeps its data", repair: "yes"},
		{why: "its folder is said", change: func(h *homecoming) { h.folder, h.newest = "", h.clock.Add(-11*day) }, task: mayReturn{Data: "/elsewhere"},
			reason: "node n2 was away for 11d", advice: "cql/replace-node"},
		{why: "nobody answers", change: func(h *homecoming) { h.lost = true }, asks: "no other node tells", repair: "yes"},
	} {
		t.Run(c.why, func(t *testing.T) {
			h := gone(t)
			if c.change != nil {
				c.change(h)
			}
			task := c.task
			task.Node = "n2"
			found, err := task.Check(t.Context(), h.on())
			out, actErr := task.Act(t.Context(), h.on(), action.Call{})
			if c.reason != "" {
				refused(t, err, c.reason, c.advice)
				refused(t, actErr, c.reason, c.advice)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if asks := task.ApprovalReason(found); (asks == "") != (c.asks == "") || !strings.Contains(asks, c.asks) {
				t.Errorf("asks a person %q, want %q", asks, c.asks)
			}
			if c.later != "" {
				var nothing action.NothingDone
				if !strings.Contains(found.Reason, c.later) || !errors.As(actErr, &nothing) || !strings.Contains(actErr.Error(), c.later) {
					t.Errorf("says %q, and the act %v; want %q", found.Reason, actErr, c.later)
				}
				return
			}
			if actErr != nil || out["repair"] != c.repair || !h.lost && out["host"] != "b" {
				t.Errorf("output %v, %v; want host b, repair %s", out, actErr, c.repair)
			}
		})
	}
}

// A node that was away for too long is not started by any way that leads back: neither by an act, nor by the undo of its drain.
func TestANodeThatWasAwayForTooLongIsNotStarted(t *testing.T) {
	h := gone(t)
	h.newest = h.clock.Add(-11 * day)
	_, err := (&start{Node: "n2"}).Act(t.Context(), h.on(), action.Call{})
	refused(t, err, "node n2 was away for 11d, and shop.orders keeps its deletions for 10d", "cql/replace-node")
	refused(t, (&drain{Node: "n2"}).Undo(t.Context(), h.on(), action.Call{}), "node n2 was away for 11d", "cql/replace-node")
	_, err = (&start{Node: "n2", Accept: "shop"}).Act(t.Context(), h.on(), action.Call{})
	if !errors.Is(err, errStarted) {
		t.Errorf("with its deleted rows accepted: %v", err)
	}
	restarts, stops := actiontest.Task(t, action.Servers(), "server.restart", "node: n2"), actiontest.Task(t, action.Servers(), "server.stop", "node: n2").(action.Undoer)
	_, err = restarts.Act(t.Context(), h.on(), action.Call{})
	refused(t, err, "node n2 was away for 11d", "cql/replace-node")
	refused(t, stops.Undo(t.Context(), h.on(), action.Call{}), "node n2 was away for 11d", "cql/replace-node")
	h.newest = h.clock.Add(-day)
	if err := (&drain{Node: "n2"}).Undo(t.Context(), h.on(), action.Call{}); !errors.Is(err, errStarted) {
		t.Errorf("after a day: %v", err)
	}
	if _, err := restarts.Act(t.Context(), h.on(), action.Call{Progress: func(float64, string) {}}); !errors.Is(err, errStarted) {
		t.Errorf("a restart after a day: %v", err)
	}
	if err := stops.Undo(t.Context(), h.on(), action.Call{}); !errors.Is(err, errStarted) {
		t.Errorf("the undo of a stop after a day: %v", err)
	}
}

// A start tells that the node must be repaired where it was away for longer than hints are kept, and a restart likewise.
func TestAStartTellsThatARepairIsNeeded(t *testing.T) {
	for away, want := range map[time.Duration]any{time.Minute: nil, day: "yes"} {
		h := gone(t)
		h.newest, h.starts = h.clock.Add(-away), true
		for name, task := range map[string]action.Task{"cql.start": &start{Node: "n2"}, "server.restart": actiontest.Task(t, action.Servers(), "server.restart", "node: n2")} {
			h.runs = false
			out, err := task.Act(t.Context(), h.on(), action.Call{Progress: func(float64, string) {}})
			if err != nil || out["repair"] != want {
				t.Errorf("%s after %s: output %v, %v; want repair %v", name, away, out, err, want)
			}
		}
	}
}

func TestAMemberHasReturnedWhenTheOthersSeeIt(t *testing.T) {
	for _, c := range []struct {
		why, host, missing, reason string
		change                     func(*homecoming)
	}{
		{why: "down", missing: "10.0.0.1 sees 10.0.0.2 (DN)"},
		{why: "up", host: "b", change: func(h *homecoming) { h.members[1].Up = true }},
		{why: "up, and not asked as whom", change: func(h *homecoming) { h.members[1].Up = true }},
		{why: "joining anew", change: func(h *homecoming) { h.members[1].Up, h.members[1].Part = true, engine.Joining }, missing: "10.0.0.2 (UJ)"},
		{why: "as another", host: "c", change: func(h *homecoming) { h.members[1].Up = true }, reason: "node n2 is the member b, but should have come back as c"},
		{why: "not there yet", change: func(h *homecoming) { h.members = h.members[:1] }, missing: "has no member at 10.0.0.2:9042 yet"},
		{why: "with hints for it", change: func(h *homecoming) {
			h.members[1].Up, h.hints = true, []engine.Hint{{Node: "10.0.0.1:9042", For: "b", Files: 1}}
		}, missing: "10.0.0.1 stores hints for it"},
		{why: "with hints for another", change: func(h *homecoming) {
			h.members[1].Up, h.hints = true, []engine.Hint{{Node: "10.0.0.1:9042", For: "z", Files: 1}}
		}},
	} {
		h := gone(t)
		if c.change != nil {
			c.change(h)
		}
		found, err := (&returned{Node: "n2", Host: c.host}).Check(t.Context(), h.on())
		if c.reason != "" {
			refused(t, err, c.reason, "a different data folder")
			continue
		}
		if err != nil || !strings.Contains(found.Reason, c.missing) || (found.State == action.Satisfied) != (c.missing == "") {
			t.Errorf("%s: %s %q, %v; want %q", c.why, found.State, found.Reason, err, c.missing)
		}
	}
}

// ScyllaDB answers, and does not show its ring as Cassandra does: that is said before anything is done, and nothing waits for it for a day.
func TestAServerWithOtherTablesIsRefused(t *testing.T) {
	h := gone(t)
	h.scylla = true
	for _, task := range []action.Task{&mayReturn{Node: "n2", Stale: "no"}, &returned{Node: "n2"}, &mayRetire{Node: "n2", Accept: "no"}} {
		_, err := task.Check(t.Context(), h.on())
		refused(t, err, "system_views", "nodetool status")
		_, err = task.Act(t.Context(), h.on(), action.Call{Progress: func(float64, string) {}})
		refused(t, err, "system_views", "nodetool status")
	}
	_, err := (&whole{}).Check(t.Context(), h.on())
	refused(t, err, "system_views", "nodetool status")
}

func TestAMemberIsNotRetired(t *testing.T) {
	for _, c := range []struct {
		why            string
		change         func(*homecoming)
		accept         string
		reason, advice string
		asks           string
	}{
		{why: "down, and a member", accept: "no", reason: "node n2 is still a member of the ring, 10.0.0.2 (DN)", advice: "cql/remove-node -i node=n2"},
		{why: "up, and a member", accept: "no", change: func(h *homecoming) { h.members[1].Up = true }, reason: "10.0.0.2 (UN)", advice: "accept_member=yes"},
		{why: "accepted", accept: "yes"},
		{why: "it has left", accept: "no", change: func(h *homecoming) { h.members = h.members[:1] }},
		{why: "nobody answers", accept: "no", change: func(h *homecoming) { h.lost = true }, asks: "no node tells whether n2 is still a member"},
	} {
		h := gone(t)
		if c.change != nil {
			c.change(h)
		}
		task := mayRetire{Node: "n2", Accept: c.accept}
		found, err := task.Check(t.Context(), h.on())
		_, actErr := task.Act(t.Context(), h.on(), action.Call{})
		if c.reason != "" {
			refused(t, err, c.reason, c.advice)
			refused(t, actErr, c.reason, c.advice)
			continue
		}
		if asks := task.ApprovalReason(found); err != nil || actErr != nil || (asks == "") != (c.asks == "") || !strings.Contains(asks, c.asks) {
			t.Errorf("%s: %v, %v, asks a person %q; want %q", c.why, err, actErr, asks, c.asks)
		}
	}
	if (&mayRetire{Node: "n2", Accept: "perhaps"}).Validate() == nil {
		t.Error("accept_member: perhaps is taken")
	}
}
