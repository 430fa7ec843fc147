package cluster

import (
	"context"
	"maps"
)

// Grower makes and removes the servers of a cluster: in a lab.
type Grower interface {
	// Grow makes an empty server that is part of nothing yet and does not run, with these settings of its own, and returns
	// its node's name. The same token, which is a Call's, finds the same server again after a crash.
	Grow(ctx context.Context, token string, settings map[string]string) (node string, err error)
	// Grown is the node that was made for a token; "" if there is none.
	Grown(token string) string
	// Add makes a server with a copy of another's data that is a part of the cluster, and returns its node's name.
	Add(ctx context.Context) (node string, err error)
	// Reset makes a server that was made here as empty as it was then. It does not run afterwards.
	Reset(ctx context.Context, node string) error
	// Shrink ends a server and removes it with its data. One that is not there is fine.
	Shrink(ctx context.Context, node string) error
}

// Assignable is a server that can be given settings of its own for its next start.
type Assignable interface {
	// Assigned are those of this server alone, over those of its cluster.
	Assigned(ctx context.Context) (map[string]string, error)
	// Assign puts these in their place. What runs goes on as it is.
	Assign(ctx context.Context, settings map[string]string) error
}

// Reassign gives a server other settings for its next start, and takes away those that are empty here.
func Reassign(ctx context.Context, own Assignable, others map[string]string) error {
	before, err := own.Assigned(ctx)
	if err != nil {
		return err
	}
	settings := maps.Clone(before)
	if settings == nil {
		settings = map[string]string{}
	}
	maps.Copy(settings, others)
	maps.DeleteFunc(settings, func(_, value string) bool { return value == "" })
	return own.Assign(ctx, settings)
}

// Monitored is a server whose end is reported when nobody asked for it.
type Monitored interface {
	// ExpectEnd says that the server will end, before it is started again, and that this is meant: it is not reported.
	ExpectEnd(ctx context.Context) error
}

// Joining is a server that joins its cluster as it starts, which can take long.
type Joining interface {
	// Launch starts the server and does not wait until it serves.
	Launch(ctx context.Context) error
}
