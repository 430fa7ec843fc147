package custom

import (
	"math/rand/v2"
	"time"

	"plimsoll/engine"
)

// generator makes values. One instance serves one goroutine.
type generator interface {
	value(d *drawing) engine.Value
}

// source makes instances of a generator.
type source func() generator

// drawing is what a value is drawn with.
type drawing struct {
	r    *rand.Rand
	row  int64  // of the table being filled, from 0
	text []byte // takes the bytes of texts, one after the other
}

// chars makes a value of the text that was appended from there on.
func (d *drawing) chars(text []byte) engine.Value {
	from := len(d.text)
	d.text = text
	return engine.Chars(text[from:len(text):len(text)])
}

// kind is a kind of generator: how it is written, after its name, and what reads that.
type kind struct {
	name, form string
	doc        string
	parse      func(*expression) (source, error)
}

// kinds lists all generators.
func kinds() []kind {
	return []kind{
		{"sequence", "[from N] [every N]", "the number of the row: 1, 2, 3; every 5 counts on after five rows. In columns only", parseSequence},
		{"cycle", "A..B", "A to B and again from A, row by row. In columns only", parseCycle},
		{"next", "TABLE", "the key of a new row, after the existing ones. In operations only", parseNext},
		{"uniform", "RANGE", "a number, all with the same frequency", number(plain(uniform))},
		{"zipfian", "RANGE [theta T] [scattered]", "the first values most often, by Zipf's law with exponent T (default 0.99); scattered: the frequent values are spread over the range", number(parseZipfian)},
		{"latest", "RANGE [theta T]", "the same, with the last values most often", number(parseLatest)},
		{"hotspot", "RANGE [hot P%] [hits P%]", "a share of the draws (80%) from a share of the range at its beginning (20%)", number(parseHotspot)},
		{"exponential", "RANGE [hot P%] [hits P%]", "the first most often, falling off exponentially: a share of the draws (95%) from a share of the range (85.71%)", number(parseExponential)},
		{"gaussian", "RANGE", "bell-shaped around the middle", number(plain(gaussian))},
		{"pareto", "RANGE [h H]", "the first most often: a share of 1-H of the draws from a share H of the range, 0.2 when left out", number(parsePareto)},
		{"sequential", "RANGE", "one after the other, cyclically; each connection starts at a different place", number(plain(sequential))},
		{"text", "LENGTH", "letters and digits", parseText},
		{"words", "LENGTH", "this number of English words", parseWords},
		{"name", "", "a first and a last name", simple(appendName)},
		{"email", "", "an address at example.org, not unique", simple(appendEmail)},
		{"uuid", "", "a random UUID", simple(appendUUID)},
		{"pattern", "TEXT", "the text with a digit for every # and a letter for every ?; in columns, {row} is the number of the row", parsePattern},
		{"bytes", "LENGTH", "binary data", parseBytes},
		{"choice", "VALUE [WEIGHT], …", "one of the values, by weight: choice new 70, paid 20, sent 10", parseChoice},
		{"constant", "VALUE", "always the same", parseConstant},
		{"time", "FROM..TO", "a date and time, in UTC: 2025-01-01..2025-12-31, 2025-01-01T08:00:00..now, -90d..now, -2h..+30m", moments("2006-01-02 15:04:05", time.Second)},
		{"date", "FROM..TO", "the same, as a date", moments("2006-01-02", 24*time.Hour)},
	}
}

func kindOf(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// nulls is NULL for a share of the values.
type nulls struct {
	generator
	share float64
}

func (g nulls) value(d *drawing) engine.Value {
	if d.r.Float64() < g.share {
		return engine.Value{}
	}
	return g.generator.value(d)
}

// counting is a number that follows from the row: first + row/every, or first + row modulo cycle.
type counting struct{ first, every, cycle int64 }

func (g counting) value(d *drawing) engine.Value {
	n := d.row / g.every
	if g.cycle > 0 {
		n %= g.cycle
	}
	return engine.Int(g.first + n)
}

func parseSequence(e *expression) (source, error) {
	g := counting{first: 1, every: 1}
	var err error
	if e.scope.own == nil {
		return nil, e.errorf(e.name, "sequence belongs to the column of a table").WithHint("next TABLE makes the key of a new row")
	}
	if e.word("from") {
		if g.first, err = e.count("a whole number after from"); err != nil {
			return nil, err
		}
	}
	if e.word("every") {
		at := e.next()
		if g.every, err = e.count("a whole number after every"); err != nil {
			return nil, err
		}
		if g.every < 1 {
			return nil, e.errorf(at, "every %d, expected at least 1", g.every)
		}
	}
	return func() generator { return g }, nil
}

func parseCycle(e *expression) (source, error) {
	if e.scope.own == nil {
		return nil, e.errorf(e.name, "cycle belongs to the column of a table")
	}
	at := e.next()
	l, err := e.between("a range such as 1..5")
	if err != nil {
		return nil, err
	}
	if l.digits > 0 {
		return nil, e.errorf(at, "%s, expected whole numbers", at.text)
	}
	return func() generator { return counting{first: l.low, every: 1, cycle: l.high - l.low + 1} }, nil
}

// next is the key of a row that an operation adds.
type next struct{ table *table }

func (g next) value(*drawing) engine.Value {
	panic("custom: the client takes the keys of new rows itself")
}

func parseNext(e *expression) (source, error) {
	if e.scope.own != nil {
		return nil, e.errorf(e.name, "next belongs to an operation").WithHint("a column's keys are = sequence")
	}
	t, err := e.value("the name of a table")
	if err != nil {
		return nil, err
	}
	table, err := e.table(t)
	if err != nil {
		return nil, err
	}
	return func() generator { return next{table} }, nil
}
