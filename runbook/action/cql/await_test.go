package cql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

// mute is an engine, and the database of each node: a ring that answers nobody for a while.
type mute struct {
	engine.Database
	since   time.Time
	long    time.Duration
	ring    engine.Ring
	streams []engine.Stream
}

func (m *mute) Name() string                                                 { return "mute" }
func (m *mute) Open(context.Context, engine.Target) (engine.Database, error) { return m, nil }
func (m *mute) Facts(context.Context) (engine.Facts, error)                  { return engine.Facts{}, nil }
func (m *mute) Streams(context.Context) ([]engine.Stream, error)             { return m.streams, nil }
func (m *mute) Tasks(context.Context) ([]engine.Task, error)                 { return nil, nil }
func (m *mute) Hints(context.Context) ([]engine.Hint, error)                 { return nil, nil }

func (m *mute) Ring(context.Context, string) (engine.Ring, error) {
	if time.Since(m.since) < m.long {
		return engine.Ring{}, errors.New("no answer in time")
	}
	return m.ring, nil
}

// runs is a server that runs.
type runs struct{ action.Server }

func (runs) Running(context.Context) (bool, error) { return true, nil }

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
			m := &mute{since: time.Now(), long: c.silent, ring: engine.Ring{Members: []engine.Member{
				{Host: "a", Address: "10.0.0.1:9042", Part: engine.Normal, Up: true, DataCentre: "dc1"},
				{Host: "b", Address: "10.0.0.2:9042", Part: engine.Normal, Up: true, DataCentre: "dc1"},
			}}}
			var nodes []action.Node
			for i := range 2 {
				nodes = append(nodes, action.Node{
					Name: fmt.Sprintf("n%d", i+1), Server: runs{}, Target: engine.Target{Addresses: []string{fmt.Sprintf("10.0.0.%d:9042", i+1)}},
				})
			}
			site := &action.Site{Name: "ring", Engine: m, List: func(context.Context) ([]action.Node, error) { return nodes, nil }}
			var told []string
			say := func(_ float64, text string) { told = append(told, text) }
			before := view{Ring: engine.Ring{Members: m.ring.Members[:1]}}
			got, err := (&join{Node: "n2"}).follow(t.Context(), &ring{site, nodes}, nodes[1], "", before, action.Call{Progress: say})
			if c.says == "" && (err != nil || got["host_id"] != "b") || c.says != "" && (err == nil || !strings.HasSuffix(err.Error(), c.says)) {
				t.Errorf("silent for %v: %v, %v", c.silent, got, err)
			}
			if !strings.Contains(strings.Join(told, "\n"), "no other node answers yet: ") {
				t.Errorf("silent for %v: told only %q", c.silent, told)
			}
		})
	}
}

// How far a change is follows from the data that its senders have still to send.
func TestStreamsAreProgress(t *testing.T) {
	m := &mute{streams: []engine.Stream{
		{Status: "start", Sent: 30e6, ToSend: 100e6}, {Status: "init", ToSend: 20e6},
		{Status: "start", Received: 30e6, ToReceive: 100e6}, // the other side of the first
		{Status: "success", Sent: 5e6, ToSend: 5e6}, {Status: "failed", Sent: 1e6, ToSend: 5e6},
	}}
	var share float64
	var said string
	c := action.Call{Progress: func(of float64, text string) { share, said = of, text }}
	if (view{db: m}).told(t.Context(), c, "joining"); share != 0.25 || said != "30.0 of 120.0 MB in 2 streams" {
		t.Errorf("told %v, %q", share, said)
	}
	m.streams = nil
	if (view{db: m}).told(t.Context(), c, "joining"); share != -1 || said != "joining" {
		t.Errorf("without streams told %v, %q", share, said)
	}
}
