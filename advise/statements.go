package advise

import "time"

// Statements is which statements read from disk, as far as that can be told from outside of the server.
type Statements struct {
	For    time.Duration `json:"for_ns"`
	Source string        `json:"source"` // counters of each statement, or samples of those under way
	Texts  int           `json:"texts"`  // executions of which the text was seen
	All    []Statement   `json:"all"`    // those that read most first
	// Unknown are sentences about what could not be told, and what would let it.
	Unknown []string `json:"unknown,omitempty"`
}

// Statement is a statement without its values, and what it reads.
type Statement struct {
	Digest   string `json:"digest"`
	Text     string `json:"text"`
	Database string `json:"database,omitempty"`
	Table    string `json:"table,omitempty"` // database.table; "" for those on several tables, or that cannot be taken apart

	Calls    float64 `json:"calls,omitempty"`    // a second; 0: not known
	Examined float64 `json:"examined,omitempty"` // rows a call; 0: not known
	Returned float64 `json:"returned"`           // rows a call, where Examined is known
	Reads    Figure  `json:"reads"`              // pages a second from disk: its part of what the table reads

	Access string `json:"access,omitempty"` // of its table, in the server's words: ref, index, ALL
	Key    string `json:"key,omitempty"`    // the index that it uses
	// Only one table with conditions joined by AND: the columns that are compared with a value, in another way, sorted by and asked for;
	// none asked for: all, or computed ones.
	Equal []string `json:"equal,omitempty"`
	Range []string `json:"range,omitempty"`
	Order []string `json:"order,omitempty"`
	Asked []string `json:"asked,omitempty"`
	Plain bool     `json:"plain,omitempty"` // a SELECT of that kind

	Keys  *Keys      `json:"keys,omitempty"`  // that it is asked for; nil: they were not seen
	Shape *TableSize `json:"shape,omitempty"` // of its table
}

// Keys is how unequally often the values of a statement are asked for.
type Keys struct {
	Seen     int    `json:"seen"`     // executions whose values were seen
	Distinct int    `json:"distinct"` // values among them
	Biased   bool   `json:"biased"`   // slow executions were seen more often than quick ones
	Skew     Figure `json:"skew"`     // Zipf's exponent; 0: all alike
}

// TableSize is how large a table is, and what of it is in memory.
type TableSize struct {
	Rows       int64   `json:"rows"`
	Pages      float64 `json:"pages"`       // of the rows themselves
	Cached     float64 `json:"cached"`      // share of the table and its indexes that is in memory
	CachedRows float64 `json:"cached_rows"` // pages of the rows themselves that are in memory
	// CachedKeys are the pages of its other indexes that are in memory, by index; nil: not known.
	CachedKeys map[string]float64  `json:"cached_keys,omitempty"`
	PageSize   int64               `json:"page_size"`
	Columns    map[string]int64    `json:"columns"` // bytes of each
	Indexes    map[string][]string `json:"indexes"` // their columns
	// Varying are the columns whose values may be shorter than Columns says.
	Varying map[string]bool `json:"varying,omitempty"`
	// Unique are the indexes that allow a value only once; nil: not known.
	Unique map[string]bool `json:"unique,omitempty"`
}
