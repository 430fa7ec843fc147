package result

// Basis is from when a time is counted: the intended start of an operation or its actual one.
type Basis string

// The bases.
const (
	Response Basis = "response" // from the intended start
	Service  Basis = "service"  // from the actual start
)
