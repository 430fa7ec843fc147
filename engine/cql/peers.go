package cql

import (
	"context"
	"net"
	"strconv"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// peer is a member of the ring as a node has written it down.
type peer struct {
	host, address   string // address is where clients reach it
	dc, rack        string
	release, schema string
	tokens          int
}

// readLocal asks a node about itself.
func readLocal(ctx context.Context, s *gocql.Session) (peer, error) {
	var p peer
	var host, schema gocql.UUID
	var address net.IP
	var port int
	var tokens []string
	err := s.Query("SELECT host_id, rpc_address, rpc_port, data_center, rack, release_version, schema_version, tokens FROM system.local").
		ScanContext(ctx, &host, &address, &port, &p.dc, &p.rack, &p.release, &schema, &tokens)
	p.host, p.address, p.schema, p.tokens = host.String(), at(address, port), schema.String(), len(tokens)
	return p, err
}

// readPeers asks a node about the others.
func readPeers(ctx context.Context, s *gocql.Session) ([]peer, error) {
	rows := s.Query("SELECT host_id, native_address, native_port, data_center, rack, release_version, schema_version, tokens FROM system.peers_v2").
		IterContext(ctx)
	var all []peer
	for {
		var p peer
		var host, schema gocql.UUID
		var address net.IP
		var port int
		var tokens []string
		if !rows.Scan(&host, &address, &port, &p.dc, &p.rack, &p.release, &schema, &tokens) {
			return all, rows.Close()
		}
		p.host, p.address, p.schema, p.tokens = host.String(), at(address, port), schema.String(), len(tokens)
		all = append(all, p)
	}
}

func at(address net.IP, port int) string {
	return net.JoinHostPort(address.String(), strconv.Itoa(port))
}
