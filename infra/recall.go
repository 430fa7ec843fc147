package infra

import "context"

// Recaller is a machine that finds a process again by what its Reference said, also for a Plimsoll that did not start it.
// Implemented by a Machine that can be served to others (infra/remote).
type Recaller interface {
	// Recall returns the process of that reference, which may have ended.
	Recall(ctx context.Context, reference string) (Process, error)
}

// Referenced is a process that can be recalled.
type Referenced interface {
	// Reference is never another process's before the machine boots again.
	Reference() string
}

// Itself is a machine on which this very process runs. Implemented by a Machine.
type Itself interface {
	Itself(ctx context.Context) (Referenced, error)
}
