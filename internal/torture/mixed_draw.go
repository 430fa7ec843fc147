package main

import (
	"math/rand/v2"
	"time"
)

// A mixed attack draws each try from a seed: what is run, where Plimsoll is killed, what is said to the run afterwards, which server is
// killed or frozen meanwhile. The same seed and number draw the same try.
type drawn struct {
	Story   string `json:"story"`
	Replica int    `json:"replica"` // which of the replicas is meant, in the order of their names
	Cuts    []cut  `json:"cuts"`
	Ways    []way  `json:"ways"` // what is said to the run after each cut
	Upset   *upset `json:"upset,omitempty"`
	Rival   []cut  `json:"rival,omitempty"` // where the other home's process is killed
	Second  []cut  `json:"second,omitempty"`
	Value   int    `json:"value"`
}

// cut is where a process is killed: so many entries of the journal after those that it found, and so much later.
type cut struct {
	After  int           `json:"after"`
	Entry  string        `json:"entry,omitempty"`  // in place of a number: the first entry of this kind and step, such as acted/stop
	Or     []cut         `json:"or,omitempty"`     // wherever it comes first
	Before bool          `json:"before,omitempty"` // just before that entry is written
	Delay  time.Duration `json:"delay_ns,omitempty"`
}

// way is what a person says to a run whose process died.
type way string

const (
	resume  way = "resume"
	undo    way = "cancel --undo"
	giveUp  way = "cancel"
	leaveIt way = "cancel --leave"
)

// upset is what befalls a server while a run goes on.
type upset struct {
	Frozen bool          `json:"frozen,omitempty"` // else killed
	Whom   int           `json:"whom"`             // 0: the primary, then the replica that is meant, then the others
	At     int           `json:"at"`               // entry of the first process
	For    time.Duration `json:"for_ns"`           // until it is thawed or started; 0: until the runs have ended
}

// draw is the try of that number.
func draw(seed uint64, number int, stories []string) drawn {
	r := rand.New(rand.NewPCG(seed, uint64(number))) //nolint:gosec // it is to be repeated, not secret
	d := drawn{Story: stories[r.IntN(len(stories))], Replica: r.IntN(2), Value: r.IntN(1000)}
	d.Cuts, d.Second, d.Rival = cuts(r, 4+r.IntN(6)), cuts(r, 1+r.IntN(5)), cuts(r, 1+r.IntN(5))
	for range 10 {
		d.Ways = append(d.Ways, []way{resume, resume, resume, resume, resume, resume, undo, undo, undo, undo, undo, giveUp, leaveIt}[r.IntN(13)])
	}
	if r.IntN(100) < 40 {
		d.Upset = &upset{Frozen: r.IntN(2) == 0, Whom: r.IntN(3), At: 3 + r.IntN(22), For: time.Duration(r.IntN(15)) * time.Second}
		if d.Story == "rolling-restart" || d.Story == "set-variable" { // they wait ten minutes for a server that stays away, as their settle says
			d.Upset.Frozen, d.Upset.For = true, max(d.Upset.For, time.Second)
		}
	}
	return d
}

func cuts(r *rand.Rand, n int) (all []cut) {
	for range n {
		c := cut{After: 1 + r.IntN(4)}
		switch r.IntN(3) {
		case 0:
			c.Before = true
		case 1:
			c.Delay = time.Duration(1+r.IntN(120)) * time.Millisecond
		}
		all = append(all, c)
	}
	if n > 0 && r.IntN(2) == 0 { // the first process may come far
		all[0].After += r.IntN(20)
	}
	return all
}
