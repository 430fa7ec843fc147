package result

// Writes are what a ledger saw of a cell, over all rounds.
type Writes struct {
	Acknowledged int64 `json:"acknowledged"`
	InDoubt      int64 `json:"in_doubt"` // ended in an error: there or not, both is right
	Found        int64 `json:"in_doubt_found"`
	Reads        int64 `json:"reads"` // checked while the load ran
}
