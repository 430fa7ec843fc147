package cql

import (
	"testing"
	"time"

	"plimsoll/engine"
)

func TestMembers(t *testing.T) {
	known := []peer{{host: "h1", address: "10.0.0.1:9042", dc: "east", rack: "r1", release: "5.0.4", schema: "s1", tokens: 16}}
	for name, c := range map[string]struct {
		g    gossip
		want engine.Member
		is   bool
	}{
		"normal": {gossip{host: "h1", address: "10.0.0.1:9042", dc: "east", status: "NORMAL,-12", load: "26551.0"},
			engine.Member{Host: "h1", Address: "10.0.0.1:9042", DataCentre: "east", Part: engine.Normal, Load: 26551, Tokens: 16}, true},
		"joining": {gossip{host: "h2", address: "10.0.0.2:9042", status: "BOOT,-12"},
			engine.Member{Host: "h2", Address: "10.0.0.2:9042", Part: engine.Joining}, true},
		"replacing": {gossip{host: "h2", status: "BOOT_REPLACE,10.0.0.3"}, engine.Member{Host: "h2", Part: engine.Replacing}, true},
		"leaving":   {gossip{host: "h1", address: "a", status: "LEAVING,-12"}, engine.Member{Host: "h1", Address: "a", Part: engine.Leaving, Tokens: 16}, true},
		"shut down": {gossip{host: "h1", address: "a", status: "shutdown,true"}, engine.Member{Host: "h1", Address: "a", Part: engine.Normal, Tokens: 16}, true},
		"known from before a restart": {gossip{host: "h1"},
			engine.Member{Host: "h1", Address: "10.0.0.1:9042", DataCentre: "east", Rack: "r1", Version: "5.0.4", Schema: "s1", Part: engine.Normal, Tokens: 16}, true},
		"left":                        {gossip{host: "h1", status: "LEFT,-12,1700"}, engine.Member{}, false},
		"heard of and never a member": {gossip{host: "h9", address: "x"}, engine.Member{}, false},
		"nobody":                      {gossip{status: "NORMAL,1"}, engine.Member{}, false},
	} {
		got, is := c.g.member(known)
		if is != c.is || is && got != c.want {
			t.Errorf("%s: %+v, %v, want %+v, %v", name, got, is, c.want, c.is)
		}
	}
}

// A node is heard once a beat follows another, and silent from its last.
func TestPulse(t *testing.T) {
	c := newControl(target{})
	start := time.Now()
	for i, step := range []struct {
		beat, generation int
		after            time.Duration
		silent           time.Duration
		heard            bool
	}{
		{5, 1, 0, 0, false},
		{5, 1, time.Second, time.Second, false},
		{6, 1, 2 * time.Second, 0, true},
		{6, 1, 9 * time.Second, 7 * time.Second, true},
		{1, 2, 10 * time.Second, 0, true}, // it was started again
	} {
		silent, heard := c.pulse("asked", gossip{host: "h", beat: step.beat, generation: step.generation}, start.Add(step.after))
		if silent != step.silent || heard != step.heard {
			t.Errorf("look %d: silent for %v, heard %v, want %v, %v", i, silent, heard, step.silent, step.heard)
		}
	}
	if _, heard := c.pulse("another", gossip{host: "h", beat: 9, generation: 2}, start); heard {
		t.Error("what one node heard counts for another")
	}
}

// Whatever nodes spread, it is a state or none, and the code of a member has two letters.
func FuzzGossip(f *testing.F) {
	for _, status := range []string{"NORMAL,-1", "BOOT,1", "LEFT,", "", ",", "shutdown,true", "removing,abc"} {
		f.Add(status, "1.0", true)
	}
	f.Fuzz(func(t *testing.T, status, load string, written bool) {
		part, is := partOf(status, written)
		if is != (part != "") && is {
			t.Errorf("%q is a member without a part", status)
		}
		if is && len(engine.Member{Part: part}.Code()) != 2 {
			t.Errorf("%q has the code %s", status, engine.Member{Part: part}.Code())
		}
		if loadOf(load) < 0 {
			t.Errorf("load %q is negative", load)
		}
	})
}
