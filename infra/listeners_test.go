package infra

import (
	"net/netip"
	"slices"
	"testing"
)

func TestListenersOfProcTables(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100147F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0000000000000000 100 0 0 10 0
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0000000000000000 100 0 0 10 0
   2: 0100007F:A0F2 0100147F:0CEA 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0000000000000000 20 4 30 10 -1
   3: 00000000000000000000000000000000:0CEB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4
   4: B80D0120000000000000000001000000:0CEC 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4
`
	var got []netip.AddrPort
	sockets := ""
	for _, l := range ParseListeners(table) {
		got, sockets = append(got, l.At), sockets+l.Socket+" "
	}
	if sockets != "1 2 4 4 " {
		t.Errorf("sockets %s", sockets)
	}
	want := []netip.AddrPort{
		netip.MustParseAddrPort("127.20.0.1:3306"),
		netip.MustParseAddrPort("0.0.0.0:22"),
		netip.MustParseAddrPort("[::]:3307"),
		netip.MustParseAddrPort("[2001:db8::1]:3308"),
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for at, taken := range map[string]bool{
		"127.20.0.1:3306": true,
		"127.20.0.2:3306": false,
		"127.20.0.2:22":   true,  // somebody listens everywhere
		"127.20.0.2:3307": true,  // everywhere, IPv4 included
		"127.20.0.1:3308": false, // another address
	} {
		if Taken(got, netip.MustParseAddrPort(at)) != taken {
			t.Errorf("Taken(%s) = %v, want %v", at, !taken, taken)
		}
	}
}

func TestWholeLines(t *testing.T) {
	for _, c := range []struct {
		data  string
		limit int
		want  string
	}{
		{"one\ntwo\n", 100, "one\ntwo\n"},
		{"one\ntwo\n", 8, "one\ntwo\n"},
		{"one\ntwo\n", 7, "two\n"},
		{"one\ntwo\n", 4, "two\n"},
		{"one\ntwo\n", 3, ""},
		{"a line without an end", 3, "end"},
	} {
		if got := wholeLines([]byte(c.data), c.limit); string(got) != c.want {
			t.Errorf("wholeLines(%q, %d) = %q, want %q", c.data, c.limit, got, c.want)
		}
	}
}
