package infra

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Listeners returns where TCP servers listen on a Linux machine, whoever runs them.
func Listeners(ctx context.Context, f Files) ([]netip.AddrPort, error) {
	var all []netip.AddrPort
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := f.ReadFile(ctx, table)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("read who listens: %w", err)
		}
		for _, l := range ParseListeners(string(data)) {
			all = append(all, l.At)
		}
	}
	return all, nil
}

// Taken tells whether a server could not listen at this address beside those that do.
func Taken(listeners []netip.AddrPort, at netip.AddrPort) bool {
	return slices.ContainsFunc(listeners, func(l netip.AddrPort) bool {
		return l.Port() == at.Port() && (l.Addr() == at.Addr() || l.Addr().IsUnspecified())
	})
}

// Listener is where a TCP server listens, and the number of the socket at which it does.
type Listener struct {
	At     netip.AddrPort
	Socket string
}

// ParseListeners reads the table of proc(5): local address in the second column, state 0A (LISTEN) in the fourth, the socket's
// number in the tenth.
func ParseListeners(table string) []Listener {
	const local, state, socket, listens = 1, 3, 9, "0A"
	var all []Listener
	for line := range strings.Lines(table) {
		columns := strings.Fields(line)
		if len(columns) <= socket || columns[state] != listens {
			continue
		}
		if at, ok := parseAddress(columns[local]); ok {
			all = append(all, Listener{at, columns[socket]})
		}
	}
	return all
}

// parseAddress reads 0100007F:0CEA: groups of four bytes, each in the (little-endian) machine's order, and the port.
func parseAddress(s string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(s, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	raw, err := hex.DecodeString(host)
	if err != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for group := range slices.Chunk(raw, 4) {
		slices.Reverse(group)
	}
	ip, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), ok
}
