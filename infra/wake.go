package infra

import (
	"context"
	"net"
	"strings"
	"time"
)

// wakeEvery is how often a server that is to end is connected to.
const wakeEvery = 2 * time.Second

// WakeUntil connects to a server that was sent SIGTERM, at host:port or a Unix socket, again and again until ctx ends. A MySQL may be asleep otherwise until its next
// client comes: its signal handler wakes the thread that accepts connections only once, and does not notice when that thread was busy
// with a connection and goes to sleep after that (signal_hand in sql/mysqld.cc).
func WakeUntil(ctx context.Context, address string) {
	tick := time.NewTicker(wakeEvery)
	defer tick.Stop()
	var dialer net.Dialer
	network := "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if conn, err := dialer.DialContext(ctx, network, address); err == nil {
				_ = conn.Close()
			}
		}
	}
}
