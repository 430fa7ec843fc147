package access

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// Who sends a name from many addresses is told of once for each, and does not fill the memory.
func TestForeignNamesDoNotFillTheMemory(t *testing.T) {
	var log bytes.Buffer
	g, err := New(Options{Listen: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Proxy: &Proxy{From: []string{"10.0.0.5"}, Header: "X-User"}}
	from := func(address netip.Addr) {
		t.Helper()
		r := &http.Request{RemoteAddr: netip.AddrPortFrom(address, 1).String(), Header: http.Header{"X-User": {"ann"}}}
		if p, named := g.named(r, c); named {
			t.Fatalf("%s is let in as %s", address, p.Name)
		}
	}
	address := netip.MustParseAddr("192.0.2.1")
	for range 3 {
		from(address)
	}
	if n := strings.Count(log.String(), "X-User"); n != 1 {
		t.Errorf("%d lines tell of one address: %s", n, log.String())
	}
	for range 2*mostAddresses + 10 {
		address = address.Next()
		from(address)
	}
	if n := len(g.dropped.seen); n > mostAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
}
