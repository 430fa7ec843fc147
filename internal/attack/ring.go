package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// ring is a ring of Cassandra.
type ring struct {
	*attack
	writer *writer
	common *gocql.Session // of the writer
}

func (w *ring) session(only string) (*gocql.Session, error) {
	var hosts []string
	for _, n := range w.nodes() {
		if only == "" && w.pid(n) > 0 || n == only {
			hosts = append(hosts, w.address(n))
		}
	}
	if len(hosts) == 0 {
		return nil, errors.New("no server runs")
	}
	c := gocql.NewCluster(hosts...)
	c.Port, c.Authenticator = w.port, gocql.PasswordAuthenticator{Username: w.user, Password: w.password}
	c.Timeout, c.ConnectTimeout, c.WriteTimeout = 8*time.Second, 5*time.Second, 8*time.Second
	c.Consistency = gocql.Quorum
	c.Metadata.CacheMode = gocql.Disabled
	if only != "" {
		c.HostFilter = gocql.WhiteListHostFilter(hosts...)
		c.Events.DisableNodeStatusEvents, c.Events.DisableTopologyEvents, c.Events.DisableSchemaEvents = true, true, true
		c.MaxWaitSchemaAgreement = time.Second
	}
	return c.CreateSession()
}

func (w *ring) start(ctx context.Context) error {
	log.SetOutput(io.Discard) // the driver's
	if err := w.up(ctx, 3); err != nil {
		return err
	}
	s, err := w.session("")
	if err != nil {
		return err
	}
	for _, cql := range []string{
		"CREATE KEYSPACE IF NOT EXISTS attack WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3}",
		"CREATE TABLE IF NOT EXISTS attack.ledger (id bigint PRIMARY KEY, note text)",
	} {
		if err := s.Query(cql).Exec(); err != nil {
			return fmt.Errorf("%s: %w", cql, err)
		}
	}
	w.common, w.writer = s, newWriter(w.insert)
	go w.writer.run(ctx)
	return nil
}

// insert writes a row to a quorum of its replicas.
func (w *ring) insert(id int64) (string, error) {
	if w.common == nil {
		s, err := w.session("")
		if err != nil {
			return "", err
		}
		w.common = s
	}
	err := w.common.Query("INSERT INTO attack.ledger (id, note) VALUES (?, ?)", id, "row").Exec()
	if errors.Is(err, gocql.ErrNoConnections) || errors.Is(err, gocql.ErrSessionClosed) {
		w.common.Close()
		w.common = nil
	}
	return "", err
}

func (w *ring) next(ctx context.Context) *scenario {
	r := w.rng
	node := w.nodes()[r.IntN(len(w.nodes()))]
	on := func(book string, inputs ...string) *scenario {
		args := []string{book, "--cluster", w.name}
		for _, i := range inputs {
			args = append(args, "-i", i)
		}
		return &scenario{book: book, args: args}
	}
	count := len(w.nodes())
	members := func(s *scenario, after int) *scenario {
		s.ended = func(outcome string) []string {
			want := map[string]int{"done": after, "undone": count}[outcome]
			if now := len(w.nodes()); want > 0 && now != want {
				return []string{fmt.Sprintf("the run is %s, and %d servers have a folder, expected %d", outcome, now, want)}
			}
			return nil
		}
		return s
	}
	switch n := r.IntN(100); {
	case n < 22:
		return on("cql/rolling-restart")
	case n < 34:
		return on("cql/rolling-config", "name=concurrent_reads", "value="+itoa(20+r.IntN(40)))
	case n < 46:
		s := on("cql/drain", "node="+node) // the repair starts it
		s.dead, s.fails = node, true
		return s
	case n < 54:
		return on("cql/repair", "keyspace=attack")
	case n < 60:
		return on("cql/cleanup")
	case n < 76:
		pid := w.pid(node)
		_ = syscall.Kill(pid, syscall.SIGKILL)
		w.say("  %s is killed", node)
		s := members(on("cql/replace-node", "dead="+node), count)
		s.dead, s.fails = node, true
		return s
	case count < 4:
		return members(on("cql/add-node"), count+1)
	}
	return members(on("cql/remove-node", "node="+node), count-1)
}

func (w *ring) theft(r *rand.Rand) *scenario {
	return &scenario{book: "cql/repair", args: []string{"cql/repair", "--cluster", w.name, "-i", "keyspace=attack"}}
}

// ill asks every server for the ring that it sees, and leaves time for what takes time.
func (w *ring) ill(within time.Duration, but ...string) (complaints []string) {
	for end := time.Now().Add(within); ; time.Sleep(3 * time.Second) {
		if complaints = w.complaints(but); len(complaints) == 0 || time.Now().After(end) {
			return complaints
		}
	}
}

func (w *ring) complaints(but []string) (all []string) {
	var members []string
	for _, n := range w.nodes() {
		if !slices.Contains(but, n) {
			members = append(members, n)
		}
	}
	for _, n := range members {
		if w.pid(n) == 0 {
			all = append(all, n+" has no process")
			continue
		}
		seen, claim, err := w.seenBy(n)
		if err != nil {
			all = append(all, n+" does not answer: "+err.Error())
			continue
		}
		if claim != "" {
			all = append(all, n+": a claim stands, of run "+claim)
		}
		for _, m := range members {
			if seen[m] != "NORMAL" {
				all = append(all, fmt.Sprintf("%s sees %s as %q", n, m, seen[m]))
			}
		}
		for m, state := range seen {
			if !slices.Contains(members, m) && !slices.Contains(but, m) && state != "LEFT" && state != "removed" {
				all = append(all, fmt.Sprintf("%s sees %s as %q, which has no folder", n, m, state))
			}
		}
	}
	return all
}

// seenBy is the ring as a server sees it: what it has heard of each, where it is also written down as a peer or is its own.
func (w *ring) seenBy(node string) (map[string]string, string, error) {
	s, err := w.session(node)
	if err != nil {
		return nil, "", err
	}
	defer s.Close()
	peers := map[string]bool{node: true}
	var address string
	rows := s.Query("SELECT peer FROM system.peers_v2").Consistency(gocql.One).Iter()
	for rows.Scan(&address) {
		peers[w.named(address)] = true
	}
	if err := rows.Close(); err != nil {
		return nil, "", err
	}
	seen := map[string]string{}
	var status string
	rows = s.Query("SELECT address, status_with_port FROM system_views.gossip_info").Consistency(gocql.One).Iter()
	for rows.Scan(&address, &status) {
		state, _, _ := strings.Cut(status, ",")
		if n := w.named(address); peers[n] {
			seen[n] = state
		}
	}
	if err := rows.Close(); err != nil {
		return nil, "", err
	}
	var claim string
	err = s.Query("SELECT run FROM plimsoll.claim WHERE id = 1").Consistency(gocql.Quorum).Scan(&claim)
	if errors.Is(err, gocql.ErrNotFound) || err != nil && strings.Contains(err.Error(), "plimsoll") { // none was ever made
		err = nil
	}
	return seen, claim, err
}

func (w *ring) rows(*scenario) {
	s, err := w.session("")
	if err != nil {
		w.report("the rows cannot be read", err.Error())
		return
	}
	defer s.Close()
	w.writer.pause()
	defer w.writer.resume()
	var found []int64
	for try := 1; ; try++ {
		found = nil
		var id int64
		rows := s.Query("SELECT id FROM attack.ledger").PageSize(2000).Iter()
		for rows.Scan(&id) {
			found = append(found, id)
		}
		if err = rows.Close(); err == nil {
			break
		}
		w.say("  the rows cannot be read: %v", err)
		if try == 5 {
			return
		}
		time.Sleep(10 * time.Second)
	}
	gone := w.writer.missing(0, found)
	if len(gone) > 0 {
		w.report("acknowledged rows are lost", fmt.Sprintf("%d rows, the first %d", len(gone), gone[0]))
	}
	w.writer.forget(gone)
	w.result.Acknowledged, _ = w.writer.count()
}

func (w *ring) repair(ctx context.Context, _ []string) {
	for _, n := range w.nodes() {
		seen, _, err := w.seenBy(n)
		if w.pid(n) > 0 && err == nil && seen[n] == "NORMAL" {
			continue
		}
		w.runToEnd(ctx, &scenario{book: "cql/start-node", args: []string{"cql/start-node", "--cluster", w.name, "-i", "node=" + n}, fails: true, forward: true}, 1+w.rng.IntN(3))
	}
}

func (w *ring) settled() {}
