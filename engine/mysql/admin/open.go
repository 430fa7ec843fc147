package admin

import (
	"context"
	"time"
)

// ClaimLock is the lock by which a run keeps a server of a cluster without a primary (GET_LOCK).
const ClaimLock = "plimsoll.claim"

// OpensWithin is how long a server has to take writes after it was asked for its lock and its clock: less than a claim is held for.
const OpensWithin = 3 * time.Second

// Open are statements that turn variables off by which a server refuses writes, such as read_only. Each is void if the lock of the cluster has
// changed hands or the time is over when the server executes it: who sends it may be gone by then, and another server the primary. Whether it
// took effect is to be read afterwards.
func Open(ctx context.Context, value func(ctx context.Context, query string) (string, error), within time.Duration, variables ...string) ([]string, error) {
	holder, err := value(ctx, LockHolder(ClaimLock))
	if err != nil {
		return nil, err
	}
	if holder == "" {
		holder = "NULL"
	}
	until, err := value(ctx, In(within))
	if err != nil {
		return nil, err
	}
	var statements []string
	for _, name := range variables {
		statements = append(statements, SetGlobalWhile(ClaimLock, holder, until, name, "0", "1"))
	}
	return statements, nil
}
