package spec

import (
	"regexp"
	"strconv"
	"time"

	"plimsoll/internal/document"
)

// Rate is how many operations arrive per second: a share of the maximum that the trial finds first, or a curve.
// The zero Rate is no rate: a closed loop.
type Rate struct {
	Share float64 // of the maximum, 0 to 1 and above; 0: Curve says it
	Curve []RateStage
}

// RateStage is a part of a curve in which the rate goes evenly from one value to another.
type RateStage struct {
	From, To float64       // operations per second
	For      time.Duration // 0: to the end
}

// Staged tells whether the rate changes with time.
func (r Rate) Staged() bool { return len(r.Curve) > 1 || len(r.Curve) == 1 && r.Curve[0].For > 0 }

// Length is how long the stages last; 0 for a constant rate.
func (r Rate) Length() time.Duration {
	var sum time.Duration
	for _, s := range r.Curve {
		sum += s.For
	}
	return sum
}

var (
	constantRate = regexp.MustCompile(`^(\d+(?:\.\d+)?)([kM]?)(?:/s)?$`)
	ShareOfMax   = regexp.MustCompile(`^(\d+(?:\.\d+)?) ?% of max$`)
	rampRates    = regexp.MustCompile(`^(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)$`)
)

const rateForms = "500, 500/s, 50% of max or a list of stages such as {rate: 500, for: 1m}"

// UnmarshalDocument reads any of the forms of a rate.
func (r *Rate) UnmarshalDocument(n *document.Node) error {
	switch n.Kind {
	case document.Sequence:
		return r.stages(n)
	case document.Scalar:
		if m := ShareOfMax.FindStringSubmatch(n.Text); m != nil {
			percent, _ := strconv.ParseFloat(m[1], 64)
			if percent == 0 {
				return n.Errorf("0 %% of max is not a load, expected %s", rateForms)
			}
			r.Share = percent / 100
			return nil
		}
		if rate, ok := perSecond(n.Text); ok {
			if rate == 0 {
				return n.Errorf("a rate of 0 is not a load, expected %s", rateForms)
			}
			r.Curve = []RateStage{{From: rate, To: rate}}
			return nil
		}
	}
	return n.Errorf("%s, expected %s", n.Said(), rateForms)
}

// perSecond reads 500, 500/s, 2k, 1.5M/s.
func perSecond(text string) (rate float64, ok bool) {
	m := constantRate.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	rate, err := strconv.ParseFloat(m[1], 64)
	return rate * map[string]float64{"": 1, "k": 1e3, "M": 1e6}[m[2]], err == nil
}

func (r *Rate) stages(n *document.Node) error {
	var list []struct {
		Rate string        `yaml:"rate"`
		Ramp string        `yaml:"ramp"`
		For  time.Duration `yaml:"for,required"`
	}
	if err := n.Decode(&list); err != nil {
		return err
	}
	if len(list) == 0 {
		return n.Errorf("an empty list, expected %s", rateForms)
	}
	for i, s := range list {
		at := n.Items[i]
		if (s.Rate == "") == (s.Ramp == "") {
			return at.Errorf("a stage has either a rate or a ramp")
		}
		if s.For == 0 {
			return at.Errorf("a stage without a duration")
		}
		stage := RateStage{For: s.For}
		if s.Rate != "" {
			rate, ok := perSecond(s.Rate)
			if !ok {
				return at.Get("rate").Errorf("%q, expected a number of operations per second", s.Rate)
			}
			stage.From, stage.To = rate, rate
		} else {
			m := rampRates.FindStringSubmatch(s.Ramp)
			if m == nil {
				return at.Get("ramp").Errorf("%q, expected two rates such as 500..2000", s.Ramp)
			}
			stage.From, _ = strconv.ParseFloat(m[1], 64)
			stage.To, _ = strconv.ParseFloat(m[2], 64)
		}
		r.Curve = append(r.Curve, stage)
	}
	return nil
}

// Arrivals is how operations of an open loop are spaced.
type Arrivals string

// The arrival processes.
const (
	Poisson Arrivals = "poisson"
	Uniform Arrivals = "uniform"
)

// UnmarshalDocument reads the name of an arrival process.
func (a *Arrivals) UnmarshalDocument(n *document.Node) error {
	*a = Arrivals(n.Text)
	if *a != Poisson && *a != Uniform {
		return document.UnknownName(n, "arrival process", []string{string(Poisson), string(Uniform)})
	}
	return nil
}
