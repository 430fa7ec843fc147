package workload

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
)

func TestAReplicaMayBeReadWhileItsDataIsNotTooOld(t *testing.T) {
	begin := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	follows := func(behind time.Duration) engine.ReplicationStatus {
		return engine.ReplicationStatus{Sources: []engine.Source{{Receives: true, Applies: true, Behind: behind}}}
	}
	cut := engine.ReplicationStatus{Sources: []engine.Source{{Applies: true, Behind: -1, Trouble: "no route"}}}
	two := engine.ReplicationStatus{Sources: append(follows(time.Second).Sources, follows(8*time.Second).Sources...)}
	for name, c := range map[string]struct {
		answers []engine.ReplicationStatus // one each second
		want    string                     // of the last; "": it may be read
	}{
		"follows":                   {[]engine.ReplicationStatus{follows(0)}, ""},
		"at the bound":              {[]engine.ReplicationStatus{follows(5 * time.Second)}, ""},
		"behind":                    {[]engine.ReplicationStatus{follows(6 * time.Second)}, "it is 6s behind"},
		"caught up":                 {[]engine.ReplicationStatus{follows(60 * time.Second), follows(0)}, ""},
		"the slower of two sources": {[]engine.ReplicationStatus{two}, "it is 8s behind"},
		"never connected":           {[]engine.ReplicationStatus{cut}, "it does not replicate: no route"},
		"cut off for a while":       {[]engine.ReplicationStatus{follows(2 * time.Second), cut, cut, cut}, ""},
		"cut off for too long":      {[]engine.ReplicationStatus{follows(2 * time.Second), cut, cut, cut, cut}, "it does not replicate: no route"},
		"back after that":           {[]engine.ReplicationStatus{follows(2 * time.Second), cut, cut, cut, cut, follows(0)}, ""},
		"a primary":                 {[]engine.ReplicationStatus{{}}, errNoReplica.Error()},
	} {
		h := health{maxBehind: 5 * time.Second, replicas: map[string]*replica{}}
		var err error
		for i, is := range c.answers {
			err = h.judge("n2", is, begin.Add(time.Duration(i)*time.Second))
		}
		if got := errorText(err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A server that has only just connected to its source says that it is not behind. It is read when it says so twice.
func TestAReplicaThatComesIsLookedAtTwice(t *testing.T) {
	nodes, server := []string{"n2"}, &standing{}
	h := health{asked: newDatabases(server.open), maxBehind: 5 * time.Second, replicas: map[string]*replica{}}
	var seen []string
	for _, behind := range []time.Duration{0, 100 * time.Second, 0, 100 * time.Second, 0, 0, 0} {
		server.behind = behind
		healthy, left := h.examine(t.Context(), nodes)
		seen = append(seen, strings.Join(healthy, " ")+"/"+errorText(left["n2"]))
	}
	if got, want := strings.Join(seen, ", "), "n2/, /it is 1m40s behind, /, /it is 1m40s behind, /, n2/, n2/"; got != want {
		t.Errorf("healthy and left\n%s, want\n%s", got, want)
	}
	if _, left := h.examine(t.Context(), nil); len(left) > 0 || len(h.replicas) > 0 || server.closed != 1 {
		t.Errorf("of a node that went: left %v, known %v, closed %d times", left, h.replicas, server.closed)
	}
}

// standing is a server that says how far it is behind. What real ones say is tested with them.
type standing struct {
	engine.Database
	behind time.Duration
	closed int
}

func (s *standing) open(context.Context, string) (engine.Database, error) { return s, nil }

func (s *standing) ReplicationStatus(context.Context) (engine.ReplicationStatus, error) {
	return engine.ReplicationStatus{Sources: []engine.Source{{Receives: true, Applies: true, Behind: s.behind}}}, nil
}

func (s *standing) Close() error {
	s.closed++
	return nil
}
