package lab

import (
	"context"
	"errors"
	"net"
	"path"
	"strconv"

	"plimsoll/lab/valkey"
)

// cachePort is where a cluster's read cache listens, at the address of its first node.
const cachePort = 6379

// ErrNoRoomForCache says that a cluster on machines of its own has no read cache.
var ErrNoRoomForCache = errors.New("a read cache needs servers that run as processes of this machine, not on machines of their own")

// StartCache starts an empty read cache beside the cluster, a real Valkey with so many bytes of memory. It ends with the cluster if it
// is not stopped before.
func (c *Cluster) StartCache(ctx context.Context, memory int64) (*valkey.Server, error) {
	if c.record.Machines != nil {
		return nil, ErrNoRoomForCache
	}
	d, err := valkey.Get(ctx, c.deps.Machine, c.deps.Cache, c.deps.Say)
	if err != nil {
		return nil, err
	}
	return valkey.Start(ctx, c.deps.Machine, d, valkey.Place{
		Dir: path.Join(c.record.folder, "cache"), Address: net.JoinHostPort(c.Nodes()[0].Address, strconv.Itoa(cachePort)), Password: c.record.password, Memory: memory,
	})
}
