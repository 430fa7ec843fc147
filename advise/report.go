package advise

import (
	"cmp"
	"math"
	"strings"
	"time"
)

// Report is what holds a database back or is about to, and what can be done about it.
type Report struct {
	Cluster  string    `json:"cluster"`
	Node     string    `json:"node"`
	At       time.Time `json:"at"`
	Region   string    `json:"region,omitempty"`
	Discount float64   `json:"discount,omitempty"`
	Findings []Finding `json:"findings"`
	// Observed is what could be observed well enough to advise about: memory, storage, commit, instance.
	Observed []string `json:"observed"`
	Memory   *Memory  `json:"memory,omitempty"`
	// Statements are those that read from disk; nil: they were not looked at.
	Statements *Statements `json:"statements,omitempty"`
	// Unknown are sentences about what could not be known, and what would let it.
	Unknown []string `json:"unknown,omitempty"`
	// Score sums up what came of earlier predictions for this cluster; empty: none was checked.
	Score string `json:"score,omitempty"`
}

// Finding is one thing that is so, with its evidence and what answers it.
type Finding struct {
	About    string   `json:"about"` // memory, storage, commit
	Title    string   `json:"title"`
	Urgent   bool     `json:"urgent,omitempty"` // it breaches a limit now, or soon
	Evidence []string `json:"evidence"`
	Options  []Option `json:"options"`
}

// Forever stands for what does not end and for a price without bound, since JSON has no infinity.
const Forever = 1e12

// Option is one way to answer a finding. To leave it is one too.
type Option struct {
	Name    string   `json:"name"`
	Advised bool     `json:"advised,omitempty"`
	Effects []Effect `json:"effects"`
	Price   Price    `json:"price"`  // a month, all of it that is known
	Change  Price    `json:"change"` // of the price a month, against leaving it
	// PerRead is the part of Change for each read a second that the option takes from the disk; nil: it takes none, or costs nothing more. Low and
	// High are its interval; a High of Forever: the option may take no read at all.
	PerRead     *float64 `json:"month_per_read_removed,omitempty"`
	PerReadLow  float64  `json:"month_per_read_removed_low,omitempty"`
	PerReadHigh float64  `json:"month_per_read_removed_high,omitempty"`
	Risk        string   `json:"risk"`
	Undo        string   `json:"undo"`
	// Rehearse is a command that tries it where nothing can break; Copy one that plans a copy of the server on which it could be tried, and which
	// costs what it costs; Do one that plans the change. Each may be empty.
	Rehearse string `json:"rehearse,omitempty"`
	Copy     string `json:"copy,omitempty"`
	Do       string `json:"do,omitempty"`
	AtOnce   bool   `json:"at_once,omitempty"` // Do makes the change itself, and does not plan it
	// Class and Volume are what the server runs on once the option was carried out, as --class and --volume write them; empty where it changes
	// neither.
	Class  string `json:"class,omitempty"`
	Volume string `json:"volume,omitempty"`
	// Spares is the option of the finding about reads that this one of the storage is, seen from the disk; nil: it is none of them.
	Spares *Option `json:"-"`
	// Index is one that a table has once the option was carried out: its columns in their order; nil where it adds none.
	Index *Index `json:"index,omitempty"`
	// When are the settings by which a server shows that the option was carried out; empty where it shows nothing of it.
	When map[string]string `json:"when,omitempty"`
}

// Index is one of a table.
type Index struct {
	Table   string   `json:"table"` // database.table
	Columns []string `json:"columns"`
	// Replaces is the index that goes with it; empty: none.
	Replaces string `json:"replaces,omitempty"`
}

// Effect is a figure that is predicted, with the interval in which it lies.
type Effect struct {
	What string  `json:"what"` // reads a second, time until the burst ends
	Unit string  `json:"unit"` // per_second, seconds, share
	Now  float64 `json:"now"`
	Then float64 `json:"then"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Note says what the figure rests on where that is not plain, or that it is of low confidence.
	Note string `json:"note,omitempty"`
	// Load is the work a second that the figure was predicted for: requests of pages, or commits; 0: none is meant.
	Load float64 `json:"load,omitempty"`
	// LoadOf is Executions where statements are meant, and not requests of pages: another index changes how many pages a statement asks for.
	LoadOf LoadOf `json:"load_of,omitempty"`
}

// LoadOf is the work that a prediction of reads was made for.
type LoadOf string

// Executions are statements a second. An empty LoadOf is requests of pages.
const Executions LoadOf = "statements"

// CommitTime is what the effect on the time of a commit is called.
const CommitTime = "commit time per change"

// Price is an amount a month. Where it is not known, Unknown says what is missing.
type Price struct {
	Month    float64 `json:"month"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Currency string  `json:"currency,omitempty"`
	Date     string  `json:"date,omitempty"`   // of the source, of several the oldest
	Source   string  `json:"source,omitempty"` // each with its date
	Old      bool    `json:"old,omitempty"`    // half a year or more
	Unknown  string  `json:"unknown,omitempty"`
}

// Known tells whether there is a figure.
func (p Price) Known() bool { return p.Unknown == "" && p.Currency != "" }

// Plus adds prices. One that is not known makes the sum unknown; one that is not there (the zero value) adds nothing.
func (p Price) Plus(q Price) Price {
	switch {
	case p == Price{}:
		return q
	case q == Price{}, p.Unknown != "":
		return p
	case q.Unknown != "":
		return q
	}
	p.Month, p.Low, p.High, p.Old = p.Month+q.Month, p.Low+q.Low, p.High+q.High, p.Old || q.Old
	if q.Date < p.Date {
		p.Date = q.Date
	}
	if q.Source != "" && !strings.Contains(p.Source, q.Source) {
		p.Source += "; " + q.Source
	}
	return p
}

// Minus is what p costs more than q.
func (p Price) Minus(q Price) Price {
	if !p.Known() || !q.Known() {
		return Price{Unknown: cmp.Or(p.Unknown, q.Unknown, "no price was requested")}
	}
	p.Low, p.High = p.Low-q.High, p.High-q.Low
	if math.Abs(p.Month-q.Month) < 1e-9 { // the same thing, whatever its price
		p.Low, p.High = 0, 0
	}
	p.Month -= q.Month
	p.Old = p.Old || q.Old
	return p
}
