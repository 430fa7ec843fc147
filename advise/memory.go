package advise

import (
	"fmt"
	"strings"
	"time"
)

// Memory is the result of observing a server's buffer pool.
type Memory struct {
	Cluster string        `json:"cluster"`
	Node    string        `json:"node"`
	At      time.Time     `json:"at"`
	Looked  time.Duration `json:"looked_ns"`

	Bytes    int64 `json:"bytes"`     // that the cache may take
	PageSize int64 `json:"page_size"` // bytes
	Pages    int64 `json:"pages"`     // that it holds
	Data     int64 `json:"data"`      // bytes of the files of tables; 0: not known

	Requests float64 `json:"requests"` // of pages, a second
	Reads    float64 `json:"reads"`    // from disk, a second
	Waited   float64 `json:"waited"`   // of these, while somebody waited
	HitRatio float64 `json:"hit_ratio"`
	Executed float64 `json:"statements"` // a second; 0: not known
	// Operations on the disk a second, reads and writes, and of these the writes; Peak is the largest of any ten seconds.
	IOPS    float64 `json:"iops"`
	Writes  float64 `json:"writes"`
	Peak    float64 `json:"peak"`
	Commits float64 `json:"commits"` // a second
	// Explained are sentences about what these figures mean.
	Explained []string `json:"explained"`

	Curve  Curve    `json:"curve"` // at the sizes that were asked for
	Line   []Point  `json:"line"`  // the same, dense, to be drawn
	Warm   []Warmth `json:"warm"`  // for each of the curve's points
	Tables []Table  `json:"tables"`
	Cost   Cost     `json:"cost"`

	Others []OtherLoad `json:"others,omitempty"` // what the cluster's other servers were asked for meanwhile
	Every  int         `json:"every"`            // one page of so many was followed
	Notes  []string    `json:"notes,omitempty"`
}

// Few tells whether hardly anything is read from disk, so that there is nothing to spare.
func (m *Memory) Few() bool { return m.Reads < 0.5 }

// Warmth is how long it takes until a resized cache is full, with reads as they are. Low and High are with the reads at the ends of their interval.
type Warmth struct {
	Resized       time.Duration `json:"resized_ns"` // from what it holds now; 0 for a smaller one
	ResizedLow    time.Duration `json:"resized_low_ns"`
	ResizedHigh   time.Duration `json:"resized_high_ns"`
	Restarted     time.Duration `json:"restarted_ns"` // from nothing
	RestartedLow  time.Duration `json:"restarted_low_ns"`
	RestartedHigh time.Duration `json:"restarted_high_ns"`
}

// Table says how much of a table or index is in the cache.
type Table struct {
	Table string    `json:"table"`
	Index string    `json:"index,omitempty"`
	Pages int64     `json:"pages"`
	Share float64   `json:"share"` // of the cache
	Of    float64   `json:"of"`    // cached part of the table's file; 0: not known
	Reads float64   `json:"reads"` // of the table, a second; on its first line alone
	Role  TableRole `json:"role,omitempty"`
}

// TableRole is how a table uses the cache.
type TableRole string

// The roles.
const (
	Lives  TableRole = "lives in memory" // it takes more of the cache than of the reads
	Passes TableRole = "passes through"  // it takes more of the reads than of the cache
)

// Point is the prediction of reads for one size of the cache.
type Point struct {
	Bytes int64   `json:"bytes"`
	Times float64 `json:"times"` // of the size as it is
	Reads float64 `json:"reads"` // pages read a second
	Low   float64 `json:"low"`   // with High: the interval in which they lie, of 90 %
	High  float64 `json:"high"`
	// Model is the fitted model's prediction, which knows nothing of single pages.
	Model float64 `json:"model"`
	// Source is history where pages were seen to come back from so far, model where they were not, data where all data fits.
	Source Source `json:"source"`
	// Doubt says why the figure is of low confidence; empty where it is not.
	Doubt string `json:"doubt,omitempty"`
}

// Source is what a prediction rests on.
type Source string

// The sources.
const (
	FromHistory Source = "history"
	FromModel   Source = "model"
	AllData     Source = "all data fits"
)

// Curve is reads over the size of the cache.
type Curve struct {
	Now    Point   `json:"now"`
	Points []Point `json:"points"`
	Knee   int64   `json:"knee_bytes,omitempty"` // the smallest cache with which under 5 % of today's reads are left; 0: not known
	// KneeDoubt says why the knee is of low confidence; AllData is the size from which on all data fits; 0: not known.
	KneeDoubt string  `json:"knee_doubt,omitempty"`
	AllData   int64   `json:"all_data_bytes,omitempty"`
	Skew      float64 `json:"skew"` // Zipf's exponent of the fitted model
}

// Cost is what the observation cost the server, measured during it.
type Cost struct {
	By      string        `json:"by"` // file or SQL
	Lists   int           `json:"lists"`
	Took    time.Duration `json:"took_ns"` // of all lists together
	Longest time.Duration `json:"longest_ns"`
	Share   float64       `json:"share"` // of the time that went into lists
	// Stall is how much longer the server answered a small question while it made a list than just before: the median, and the largest.
	Stall    time.Duration `json:"stall_ns"`
	MaxStall time.Duration `json:"max_stall_ns"`
}

// OtherLoad is what another server of the cluster was asked for while one was observed.
type OtherLoad struct {
	Node     string  `json:"node"`
	Requests float64 `json:"requests"` // of pages, a second
	Reads    float64 `json:"reads"`    // from disk, a second
}

// OtherServers says of a cluster of several servers that a prediction of reads is one server's, and what the others were asked for meanwhile.
func OtherServers(node string, m *Memory) string {
	text := "Other servers of the cluster: their readers ask for other pages, and the curve of " + node + " says nothing about them. Observe each: --node."
	if len(m.Others) == 0 {
		return text
	}
	var others []string
	for _, o := range m.Others {
		others = append(others, fmt.Sprintf("%s for %.0f, of which it read %.3g from disk", o.Node, o.Requests, o.Reads))
	}
	return fmt.Sprintf("%s While %s was asked for %.0f pages a second, %s.", text, node, m.Requests, strings.Join(others, "; "))
}
