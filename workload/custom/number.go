package custom

import (
	"math"

	"plimsoll/engine"
	"plimsoll/workload/random"
)

// distribution makes instances of a distribution.
type distribution func() random.Distribution

func uniform() random.Distribution    { return random.Uniform{} }
func gaussian() random.Distribution   { return random.Gaussian{Rounds: 12} }
func sequential() random.Distribution { return &random.Sequential{} }

func parseZipfian(e *expression) (distribution, error) {
	theta, err := e.option("theta", random.Theta, 0, 10)
	if err != nil {
		return nil, err
	}
	if e.word("scattered") {
		return func() random.Distribution { return random.NewScrambled(theta) }, nil
	}
	return func() random.Distribution { return random.NewZipf(theta) }, nil
}

func parseLatest(e *expression) (distribution, error) {
	theta, err := e.option("theta", random.Theta, 0, 10)
	return func() random.Distribution { return random.NewLatest(theta) }, err
}

func parseHotspot(e *expression) (distribution, error) {
	hot, err := e.share("hot", 0.2, all)
	if err != nil {
		return nil, err
	}
	hits, err := e.share("hits", 0.8, all)
	return func() random.Distribution { return random.Hotspot{Hot: hot, Hits: hits} }, err
}

func parseExponential(e *expression) (distribution, error) {
	hot, err := e.share("hot", 0.8571, notAll)
	if err != nil {
		return nil, err
	}
	hits, err := e.share("hits", 0.95, notAll)
	return func() random.Distribution { return random.NewExponential(hot, hits) }, err
}

func parsePareto(e *expression) (distribution, error) {
	h, err := e.option("h", 0.2, 0.001, 0.999)
	return func() random.Distribution { return random.NewPareto(h) }, err
}

// number reads a range of numbers, or a table for the numbers of its rows, and a distribution over it.
func number(parse func(*expression) (distribution, error)) func(*expression) (source, error) {
	const what = "a range such as 1..100, or a table for the numbers of its rows"
	return func(e *expression) (source, error) {
		if t := e.next(); validName.MatchString(t.text) {
			e.take()
			table, err := e.table(t)
			if err != nil {
				return nil, err
			}
			table.picked = e.place(t)
			d, err := parse(e)
			return func() generator { return picked{table, d()} }, err
		}
		l, err := e.between(what)
		if err != nil {
			return nil, err
		}
		d, err := parse(e)
		if l.digits > 0 {
			return func() generator { return decimal{l, math.Pow10(l.digits), d()} }, err
		}
		return func() generator { return integer{l, d()} }, err
	}
}

// integer is a whole number of a range.
type integer struct {
	limits
	of random.Distribution
}

func (g integer) value(d *drawing) engine.Value {
	return engine.Int(g.low + g.of.Draw(d.r, g.high-g.low+1))
}

// decimal is a number of a range, with as many digits as the range was written with.
type decimal struct {
	limits
	unit float64
	of   random.Distribution
}

func (g decimal) value(d *drawing) engine.Value {
	return engine.Float(float64(g.low+g.of.Draw(d.r, g.high-g.low+1)) / g.unit)
}

// picked is the number of a row that is in a table.
type picked struct {
	table *table
	of    random.Distribution
}

func (g picked) value(d *drawing) engine.Value {
	return engine.Int(g.table.first + g.table.keys.Row(g.of.Draw(d.r, g.table.keys.Rows())))
}

// plain is a distribution without anything to set.
func plain(d distribution) func(*expression) (distribution, error) {
	return func(*expression) (distribution, error) { return d, nil }
}
