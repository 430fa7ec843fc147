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
		all = append(all, parseListeners(string(data))...)
	}
	return all, nil
}

// Taken tells whether a server could not listen at this address beside those that do.
func Taken(listeners []netip.AddrPort, at netip.AddrPort) bool {
	return slices.ContainsFunc(listeners, func(l netip.AddrPort) bool {
		return l.Port() == at.Port() && (l.Addr() == at.Addr() || l.Addr().IsUnspecified())
	})
}

// parseListeners reads the table of proc(5): local address in the second column, state 0A (LISTEN) in the fourth.
func parseListeners(table string) []netip.AddrPort {
	var all []netip.AddrPort
	for line := range strings.Lines(table) {
		columns := strings.Fields(line)
		if len(columns) < 4 || columns[3] != "0A" {
			continue
		}
		if at, ok := parseAddress(columns[1]); ok {
			all = append(all, at)
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
