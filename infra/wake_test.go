package infra

import (
	"context"
	"net"
	"path/filepath"
	"testing"
)

func TestWakeUntilConnects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ network, address string }{
		{"tcp", "127.0.0.1:0"},
		{"unix", filepath.Join(t.TempDir(), "socket")},
	} {
		listener, err := net.Listen(c.network, c.address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			WakeUntil(ctx, listener.Addr().String())
		}()
		for range 2 { // more than once
			conn, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		}
		cancel()
		<-ended
	}
}
