package replication

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// members are the nodes of a cluster by what no two servers share: server_uuid in MySQL, server_id in MariaDB.
type members struct {
	mariadb bool
	nodes   []peer
	who     map[string]string // has an identity
	unknown []string          // the nodes that do not answer, and of which no other tells the identity
}

func membersOf(ctx context.Context, s *server) (members, error) {
	m := members{mariadb: s.mariadb, who: map[string]string{}}
	var err error
	m.nodes, err = askFor(ctx, s.on, "", func(node string) time.Duration {
		if s.on.Hangs(node) {
			return cluster.HungTime
		}
		return patience
	})
	if err != nil {
		return m, err
	}
	for _, p := range m.nodes {
		switch {
		case !p.answers():
			if !m.noteFollowed(p) {
				m.unknown = append(m.unknown, p.name)
			}
		case m.mariadb:
			m.who[p.is.ServerID] = p.name
		default:
			uuid, err := s.on.Value(ctx, p.name, admin.Global("server_uuid"))
			if err != nil {
				return m, fmt.Errorf("node %s: %w", p.name, err)
			}
			m.who[strings.ToLower(uuid)] = p.name
		}
	}
	m.noteSources()
	return m, nil
}

// noteFollowed notes who a node is that does not answer, as those say that follow it by its address.
func (m members) noteFollowed(silent peer) (known bool) {
	for _, p := range m.nodes {
		for _, source := range p.is.Sources {
			if id := m.identity(source); id != "" && source.Address == silent.address {
				m.who[id], known = silent.name, true
			}
		}
	}
	return known
}

// noteSources notes whom the nodes follow that follow one server alone: it is of the cluster, by whichever address they know it. If one node is not
// known, it is that one.
func (m *members) noteSources() {
	noted := false
	for _, p := range m.nodes {
		if len(p.is.Sources) != 1 || p.is.Sources[0].Channel != "" {
			continue
		}
		source := p.is.Sources[0]
		if node, doubt := m.whose(source); node == "" && doubt != neverReached {
			m.who[m.identity(source)] = source.Address
			noted = true
		}
	}
	if noted && len(m.unknown) == 1 {
		m.unknown = nil
	}
}

// identity is who a source says that it is; "" if it was never reached.
func (m members) identity(source engine.Source) string {
	switch {
	case !m.mariadb:
		return strings.ToLower(source.UUID)
	case source.ServerID == "0":
		return ""
	}
	return source.ServerID
}

// neverReached is the doubt about a source that has not said who it is.
const neverReached = "it was never reached"

// whose is the node that a source is, by its address or its identity; "" for none. Where that is not certain, there is a doubt.
func (m members) whose(source engine.Source) (node, doubt string) {
	for _, p := range m.nodes {
		if p.address == source.Address {
			return p.name, ""
		}
	}
	switch id := m.identity(source); {
	case id == "":
		return "", neverReached
	case m.who[id] != "":
		return m.who[id], ""
	case len(m.unknown) > 0:
		return "", strings.Join(m.unknown, " or ") + " does not answer and may be it"
	}
	return "", ""
}
