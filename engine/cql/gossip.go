package cql

import (
	"context"
	"strconv"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// gossip is what a node has heard of another, or of itself.
type gossip struct {
	host             string
	address          string // where clients reach it
	dc, rack         string
	release, schema  string
	status           string // NORMAL,-1234567890
	load             string
	generation, beat int
}

// readGossip asks a node for all it has heard.
func readGossip(ctx context.Context, s *gocql.Session) ([]gossip, error) {
	rows := s.Query(`SELECT host_id, native_address_and_port, dc, rack, release_version, "schema", status_with_port, status, load,
		generation, heartbeat FROM system_views.gossip_info`).IterContext(ctx)
	var all []gossip
	for {
		var g gossip
		var old string // how nodes before 4.0 say it
		if !rows.Scan(&g.host, &g.address, &g.dc, &g.rack, &g.release, &g.schema, &g.status, &old, &g.load, &g.generation, &g.beat) {
			return all, rows.Close()
		}
		if g.status == "" {
			g.status = old
		}
		all = append(all, g)
	}
}

// gossipState is the state that a node spreads of itself: NORMAL of "NORMAL,-1234567890".
func gossipState(status string) string {
	state, _, _ := strings.Cut(status, ",")
	return state
}

// partOf is what a node does in the ring by the state that it spreads; false for one that is no member, or no more. A node
// that was shut down, or of which only is known that it was a member, is one still.
func partOf(status string, member bool) (engine.Part, bool) {
	switch gossipState(status) {
	case "NORMAL":
		return engine.Normal, true
	case "BOOT":
		return engine.Joining, true
	case "BOOT_REPLACE":
		return engine.Replacing, true
	case "LEAVING", "removing":
		return engine.Leaving, true
	case "MOVING":
		return engine.Moving, true
	case "LEFT", "removed":
		return "", false
	}
	return engine.Normal, member // shutdown, hibernate, or nothing
}

// shut tells whether a node said that it goes.
func (g gossip) shut() bool {
	state := gossipState(g.status)
	return state == "shutdown" || state == "removing"
}

// member is a node that was heard of, with what is written down of it.
func (g gossip) member(peers []peer) (engine.Member, bool) {
	m := engine.Member{
		Host: g.host, Address: g.address, DataCentre: g.dc, Rack: g.rack, Version: g.release, Schema: g.schema, Load: loadOf(g.load),
	}
	written := false
	for _, p := range peers {
		if p.host == g.host {
			written = true
			m.Tokens = p.tokens
			if m.Address == "" {
				m.Address, m.DataCentre, m.Rack, m.Version, m.Schema = p.address, p.dc, p.rack, p.release, p.schema
			}
		}
	}
	var is bool
	m.Part, is = partOf(g.status, written)
	return m, is && g.host != ""
}

// loadOf reads bytes as nodes spread them: 26551.0.
func loadOf(text string) int64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != f || f < 0 || f > 1<<60 {
		return 0
	}
	return int64(f)
}
