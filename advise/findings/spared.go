package findings

import (
	"fmt"
	"math"

	"plimsoll/advise"
)

// sparing are options of the finding about reads that change neither volume nor class, seen from the storage: the volume stays as it is, and fewer
// operations and bytes are asked of it. They stand in the storage's table too. In a lab a read stands for as many as the disk is scaled.
func (in Input) sparing(reads []advise.Option) (all []spared) {
	gives, _ := limit(*in.Volume, in.Prices.Classes[in.Class])
	carries, _ := flow(*in.Volume, in.Prices.Classes[in.Class])
	for i, o := range reads {
		e := readsOf(o)
		if e == nil || o.Class != "" || o.Volume != "" || o.When != nil || e.Now-e.Then < 0.5 {
			continue
		}
		left := func(rate, reads float64) float64 { return max(rate-(e.Now-reads)*in.scale(), 0) }
		m := in.use
		mean := advise.Figure{Mean: left(m.IOPS.Mean, e.Then), Low: left(m.IOPS.Low, e.Low), High: left(m.IOPS.High, e.High)}
		// What was predicted is checked by the reads, once.
		bytes := max(max(m.PeakBytes, m.Bytes)-(e.Now-e.High)*in.scale()*float64(in.Memory.PageSize), 0)
		s := spared{asked: asked{left(max(m.Peak, m.IOPS.Mean), e.High), bytes}, Option: advise.Option{
			Name: o.Name, Price: o.Price, Change: o.Change, Risk: o.Risk, Undo: o.Undo, Rehearse: o.Rehearse, Do: o.Do, AtOnce: o.AtOnce, Spares: &reads[i],
		}}
		s.Effects = append(s.Effects, advise.Effect{What: sustained, Unit: "per_second", Now: gives, Then: gives, Low: gives, High: gives},
			advise.Effect{What: "disk operations per second", Unit: "per_second", Now: m.IOPS.Mean, Then: mean.Mean, Low: mean.Low, High: mean.High, Note: e.Note})
		if in.Volume.Bucket().Size > 0 {
			before := lasts(*in.Volume, in.Balance, m.IOPS.Mean)
			if in.spent() {
				before = 0
			}
			until := func(rate float64) float64 { return finite(lasts(*in.Volume, in.Balance, rate)) }
			burst := advise.Effect{What: ended, Unit: "seconds", Now: finite(before), Then: until(mean.Mean), Low: until(s.asked.operations), High: until(mean.Low)}
			if !math.IsInf(before, 1) || burst.Low < advise.Forever {
				s.Effects = append(s.Effects, burst)
			}
		}
		if carries > 0 && m.Bytes > 0 {
			s.Effects = append(s.Effects, advise.Effect{What: throughput, Unit: "bytes_per_second", Now: carries, Then: carries, Low: carries, High: carries,
				Note: fmt.Sprintf("up to %.3g MiB per second of it are asked for", bytes/(1<<20))})
		}
		all = append(all, s)
	}
	return all
}

// spared is an option after which the disk is asked for less.
type spared struct {
	advise.Option

	asked asked // what may be left
}

// asked is what the disk is asked for in the busiest ten seconds, a second.
type asked struct{ operations, bytes float64 }

// readsOf is the effect of an option on reads; nil: it has none.
func readsOf(o advise.Option) *advise.Effect {
	for i, e := range o.Effects {
		if e.What == "reads a second from disk" {
			return &o.Effects[i]
		}
	}
	return nil
}

// scale is how many operations of the whole volume one of the server stands for.
func (in Input) scale() float64 {
	if in.Lab == nil {
		return 1
	}
	return 1 / in.Lab.Scale
}

// scaled says of reads that they are those of a lab whose disk is smaller than the volume that it imitates.
func (in Input) scaled() []string {
	if in.scale() == 1 {
		return nil
	}
	return []string{fmt.Sprintf("Reads are those of the lab's server. Its disk has 1/%.4g of the volume's limits, so each stands for %.4g reads of the volume: prices per read are for reads of the volume.", in.scale(), in.scale())}
}
