package access

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Hosts are the names by which the page may be asked for. A page of another site whose name was made to point here (DNS rebinding)
// asks by its own name, and is refused before anything else.
type Hosts struct {
	names    map[string]bool
	loopback bool // any address of this machine's own loopback is allowed too
}

// NewHosts allows the host of the address that is listened on, and more names. On loopback, localhost and the loopback addresses are
// allowed.
func NewHosts(listen string, more ...string) Hosts {
	h := Hosts{names: map[string]bool{}, loopback: Loopback(listen)}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		host = listen
	}
	if a, err := netip.ParseAddr(host); host != "" && (err != nil || !a.IsUnspecified()) {
		more = append(more, host)
	}
	for _, name := range more {
		h.names[canonical(name)] = true
	}
	return h
}

// Loopback tells whether only this machine can reach an address. A name is not looked up: only localhost counts.
func Loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		host = listen
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// Allow tells whether a request asks for the page by one of its names.
func (h Hosts) Allow(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = canonical(strings.Trim(host, "[]"))
	if h.names[host] {
		return true
	}
	a, err := netip.ParseAddr(host) // 127.0.0.1.evil.example is a name and no address
	return h.loopback && (host == "localhost" || err == nil && a.IsLoopback())
}

func canonical(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return host
}
