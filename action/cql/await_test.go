package cql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// mute is an engine, and the database of each node: a ring that answers nobody for a while.
type mute struct {
	engine.Database
	since   time.Time
	long    time.Duration
	grows   time.Duration // when its second member is there
	ring    engine.Ring
	streams []engine.Stream
}

func (m *mute) Name() string                                                 { return "mute" }
func (m *mute) Open(context.Context, engine.Target) (engine.Database, error) { return m, nil }
func (m *mute) Facts(context.Context) (engine.Facts, error)                  { return engine.Facts{}, nil }
func (m *mute) Streams(context.Context) ([]engine.Stream, error)             { return m.streams, nil }
func (m *mute) Tasks(context.Context) ([]engine.Task, error)                 { return nil, nil }
func (m *mute) Hints(context.Context) ([]engine.Hint, error)                 { return nil, nil }
func (m *mute) Repairs(context.Context, string) ([]engine.Repair, error)     { return nil, nil }
func (m *mute) Sizes(context.Context, string) (map[string]int64, error)      { return nil, nil }

func (m *mute) Ring(context.Context, string) (engine.Ring, error) {
	if time.Since(m.since) < m.long {
		return engine.Ring{}, errors.New("no answer in time")
	}
	if time.Since(m.since) < m.grows {
		return engine.Ring{Members: m.ring.Members[:1]}, nil
	}
	return m.ring, nil
}

// runs is a server that runs, but for the first times that it is asked.
type runs struct {
	cluster.Server
	not, started int
}

func (r *runs) Running(context.Context) (bool, error) { return r.started >= r.not, nil }
func (r *runs) Start(context.Context) error           { r.started++; return nil }

// joining is a ring of one that a second node joins, while nobody answers for some time.
func joining(silent time.Duration, server cluster.Server) (follow func(*testing.T, *[]string) (action.Facts, error), m *mute) {
	m = &mute{since: time.Now(), long: silent, ring: engine.Ring{Members: []engine.Member{
		{Host: "a", Address: "10.0.0.1:9042", Part: engine.Normal, Up: true, DataCentre: "dc1"},
		{Host: "b", Address: "10.0.0.2:9042", Part: engine.Normal, Up: true, DataCentre: "dc1"},
	}}}
	nodes := []cluster.Node{
		{Name: "n1", Server: &runs{}, Target: engine.Target{Addresses: []string{"10.0.0.1:9042"}}},
		{Name: "n2", Server: server, Target: engine.Target{Addresses: []string{"10.0.0.2:9042"}}},
	}
	on := &cluster.Cluster{Name: "ring", Engine: m, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
	before := view{Ring: engine.Ring{Members: m.ring.Members[:1]}}
	return func(t *testing.T, told *[]string) (action.Facts, error) {
		say := func(_ float64, text string) { *told = append(*told, text) }
		return (&join{Node: "n2"}).follow(t.Context(), &ring{cluster: on, nodes: nodes}, nodes[1], "", before, action.Call{Progress: say})
	}, m
}

// A join outlives a while in which no member answers, and one without an end ends it.
func TestAJoinWaitsForARingThatIsSilentForAWhile(t *testing.T) {
	for _, c := range []struct {
		silent time.Duration
		says   string
	}{
		{2 * time.Minute, ""},
		{time.Hour, "no answer in time; for 5m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var told []string
			follow, _ := joining(c.silent, &runs{})
			got, err := follow(t, &told)
			if c.says == "" && (err != nil || got["host_id"] != "b") || c.says != "" && (err == nil || !strings.HasSuffix(err.Error(), c.says)) {
				t.Errorf("silent for %v: %v, %v", c.silent, got, err)
			}
			if !strings.Contains(strings.Join(told, "\n"), "no other node answers yet: ") {
				t.Errorf("silent for %v: told only %q", c.silent, told)
			}
		})
	}
}

// A server that ends while it joins is started again, twice.
func TestAJoinGoesOnWhenItsServerEnded(t *testing.T) {
	for _, c := range []struct {
		ends int
		says string
	}{{2, ""}, {3, "stopped while it was joining, 3 times; the ring serves as before"}} {
		synctest.Test(t, func(t *testing.T) {
			server := &runs{not: c.ends}
			follow, m := joining(0, server)
			m.grows = time.Minute
			var told []string
			got, err := follow(t, &told)
			if c.says == "" && (err != nil || got["host_id"] != "b" || server.started != 2) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("ended %d times: %v, %v, started %d times", c.ends, got, err, server.started)
			}
		})
	}
}

// How far a change is follows from the data that its senders have sent and have still to send, and never goes back.
func TestStreamsAreProgress(t *testing.T) {
	old := engine.Stream{ID: "0", Status: "success", Sent: 500e6, ToSend: 500e6} // of an earlier change
	m := &mute{streams: []engine.Stream{old}}
	var share float64
	var said string
	c := action.Call{Progress: func(of float64, text string) { share, said = of, text }}
	sent := flow{}
	for _, step := range []struct {
		streams []engine.Stream
		share   float64
		says    string
	}{
		{nil, -1, "joining"},
		{[]engine.Stream{
			{ID: "1", Status: "start", Sent: 30e6, ToSend: 100e6}, {ID: "2", Status: "init", ToSend: 20e6},
			{ID: "1", Status: "start", Node: "b", Received: 30e6, ToReceive: 100e6}, // the other side of the first
			{ID: "3", Status: "failed", Sent: 1e6, ToSend: 5e6},
		}, 0.25, "30.0 of 120.0 MB in 2 streams"},
		{[]engine.Stream{{ID: "1", Status: "success", Sent: 100e6, ToSend: 100e6}, {ID: "2", Status: "start", Sent: 2e6, ToSend: 20e6}}, 0.85, "102.0 of 120.0 MB in 1 streams"},
		{[]engine.Stream{ // another begins
			{ID: "1", Status: "success", Sent: 100e6, ToSend: 100e6}, {ID: "2", Status: "success", Sent: 20e6, ToSend: 20e6}, {ID: "4", Status: "start", ToSend: 120e6},
		}, 0.85, "120.0 of 240.0 MB in 1 streams"},
		{[]engine.Stream{{ID: "1", Status: "success", ToSend: 100e6}, {ID: "4", Status: "success", ToSend: 120e6}}, 1, "220.0 of 220.0 MB sent; joining"},
		{nil, 1, "joining"},
	} {
		m.streams = append(step.streams, old)
		if sent.told(t.Context(), view{db: m}, c, "joining"); share != step.share || said != step.says {
			t.Errorf("told %v, %q, want %v, %q", share, said, step.share, step.says)
		}
	}
}
