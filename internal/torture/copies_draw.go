package main

import (
	"math/rand/v2"
	"time"
)

// copyDraw is what is drawn for a try: for each of its runs where Plimsoll is killed and what is said to the run then.
type copyDraw struct {
	Rebuild, Detach, Reattach blows
}

// blows befall one run.
type blows struct {
	Cuts  []blow `json:"cuts"`
	Ways  []way  `json:"ways"`
	Swap  bool   `json:"swap,omitempty"`  // after the first kill in the middle of a copy another disk stands in the place of the one that was being filled
	Reset bool   `json:"reset,omitempty"` // after the first kill in the middle of a copy the machine loses its power
}

// blow is where a process is killed: at an entry of its journal, or when so much was written to the leg since it began.
type blow struct {
	cut

	Copy   bool  `json:"copy,omitempty"`
	Copied int64 `json:"copied,omitempty"` // bytes
}

// How many entries the journal of a run has, at least: the tries kill at one after the other.
const (
	rebuildEntries = 11 // of superdisk/rebuild
	legEntries     = 8  // of superdisk/detach-network and reattach-network
)

// drawCopy is the try of that number.
func drawCopy(seed uint64, number int) copyDraw {
	r := rand.New(rand.NewPCG(seed, uint64(number)^0xc0b1e5)) //nolint:gosec // it is to be repeated, not secret
	d := copyDraw{
		Rebuild:  drawBlows(r, 1+r.IntN(3), 1+number%rebuildEntries),
		Detach:   drawBlows(r, 1, 1+number%legEntries),
		Reattach: drawBlows(r, 1+r.IntN(2), 1+number%legEntries),
	}
	for i := range d.Rebuild.Cuts {
		if r.IntN(3) > 0 {
			d.Rebuild.Cuts[i] = drawMoment(r)
		}
	}
	switch r.IntN(12) {
	case 0:
		d.Rebuild.Reset, d.Rebuild.Cuts[0] = true, drawMoment(r)
	case 1, 2, 3:
		d.Rebuild.Swap, d.Rebuild.Cuts[0] = true, drawMoment(r)
	}
	return d
}

// drawMoment is any moment of a copy: so much of what is copied, or a little more, when md is at work already.
func drawMoment(r *rand.Rand) blow { return blow{Copy: true, Copied: r.Int64N(mostCopied)} }

// drawBlows kills so many processes: at an entry of the journal, just before it, or a while after it. The first is killed at that entry.
func drawBlows(r *rand.Rand, kills, first int) (b blows) {
	for n := range kills {
		c := cut{After: 1 + r.IntN(4)} // the next processes go on at the act
		if n == 0 {
			c.After = first
		}
		switch r.IntN(3) {
		case 0:
			c.Before = true
		case 1:
			c.Delay = time.Duration(1+r.IntN(1500)) * time.Millisecond
		}
		b.Cuts = append(b.Cuts, blow{cut: c})
		b.Ways = append(b.Ways, []way{resume, resume, resume, resume, resume, undo, undo, giveUp}[r.IntN(8)])
	}
	return b
}
