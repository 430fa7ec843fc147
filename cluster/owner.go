package cluster

import "context"

type ownerKey struct{}

// WithOwner returns a context for an act. Each statement that is executed with it, and each node that is looked up to be worked, asks
// first whether the cluster is still the act's, and is refused if it is not: a process may be suspended in the middle of an act, and
// wake when another run has taken the cluster.
func WithOwner(ctx context.Context, stillOurs func(context.Context) error) context.Context {
	return context.WithValue(ctx, ownerKey{}, stillOurs)
}

// StillOurs refuses to go on with an act whose cluster was lost; without an act it refuses nothing. Who changes something by a
// connection of his own asks it before each change.
func StillOurs(ctx context.Context) error {
	stillOurs, _ := ctx.Value(ownerKey{}).(func(context.Context) error)
	if stillOurs == nil {
		return nil
	}
	return stillOurs(WithOwner(ctx, nil)) // what is asked of the cluster in order to know is no part of the act
}
