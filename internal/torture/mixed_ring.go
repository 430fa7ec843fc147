package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/cql"
)

// ringStories are those of a ring, by its own home alone: another home does not reach the machines that these runbooks need.
var ringStories = map[string]story{"drain and start": drainAndStart, "rolling-restart": ringRestart, "rolling-config": ringConfig}

// ringPatience is how long a command on a ring may take: a node takes a minute to start.
const ringPatience = 15 * time.Minute

func drainAndStart(ctx context.Context, t *attempt) {
	node := t.servers[t.Drawn.Value%len(t.servers)].Name
	if r := t.run(ctx, leg{home: t.a, cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: []string{"cql/drain", "-i", "node=" + node}}); r.Status == "done" {
		again := t.run(ctx, leg{home: t.a, cuts: t.Drawn.Second, ways: t.Drawn.Ways[2:], args: []string{"cql/start-node", "-i", "node=" + node}})
		if again.Status != "done" { // a start that was taken back leaves the node stopped, as the drain that is done has it
			t.mu.Lock()
			t.fallen = append(t.fallen, node)
			t.mu.Unlock()
		}
	}
}

func ringRestart(ctx context.Context, t *attempt) {
	t.run(ctx, leg{home: t.a, upset: t.nap(), cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: []string{"cql/rolling-restart"}})
}

func ringConfig(ctx context.Context, t *attempt) {
	t.run(ctx, leg{home: t.a, upset: t.nap(), cuts: t.Drawn.Cuts, ways: t.Drawn.Ways, args: []string{
		"cql/rolling-config", "-i", "name=concurrent_reads", "-i", fmt.Sprint("value=", 16+t.Drawn.Value%32),
	}})
}

// nap freezes a node for some seconds: the runbooks of a ring would wait half an hour for one that stays away.
func (t *attempt) nap() func(int) {
	u := t.Drawn.Upset
	if u == nil || !u.Frozen || u.For == 0 {
		return nil
	}
	whom := t.servers[u.Whom%len(t.servers)]
	return func(entry int) {
		if entry == u.At {
			t.befall(whom, true, u.For)
		}
	}
}

// ringTarget reaches these servers, and asks a majority of the replicas.
func (m *mixed) ringTarget(servers ...server) engine.Target {
	t := engine.Target{Engine: "cql", User: "plimsoll", Password: m.password, Timeout: 5 * time.Second, Options: map[string]string{"consistency": "QUORUM"}}
	for _, s := range servers {
		t.Addresses = append(t.Addresses, s.Address)
	}
	if len(servers) == 1 {
		return engine.Alone(cql.Engine{}, t)
	}
	return t
}

// ask is a question's rows, each with its columns as text.
func ask(ctx context.Context, t engine.Target, texts ...string) (rows [][]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	db, err := cql.Engine{}.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	session, err := db.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	for _, text := range texts {
		r := engine.Result{Keep: true}
		if err := session.Exec(ctx, text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		rows = nil
		for i := range r.Rows {
			var row []string
			for j := range r.Columns {
				v := r.At(i, j)
				text := string(v.Data)
				if v.Kind == engine.Integer {
					text = fmt.Sprint(v.Int)
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// seedRing makes the ledger, and lets the system's own keyspaces be read while a node is away.
func (m *mixed) seedRing(ctx context.Context) error {
	servers, err := m.serversOf(ctx)
	if err != nil {
		return err
	}
	_, err = ask(ctx, m.ringTarget(servers...),
		"CREATE KEYSPACE IF NOT EXISTS attack WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
		"CREATE TABLE IF NOT EXISTS attack.ledger (id bigint PRIMARY KEY)")
	return err
}

// ringLedger writes to a majority all the time.
type ringLedger struct {
	mu    sync.Mutex
	acked []int64
	done  sync.WaitGroup
}

func (l *ringLedger) write(ctx context.Context, t engine.Target, next int64) {
	var session engine.Session
	var db engine.Database
	drop := func() {
		if session != nil {
			_ = session.Close()
			_ = db.Close()
			session = nil
		}
	}
	defer drop()
	for ; ctx.Err() == nil; rest(ctx, 20*time.Millisecond) {
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		var err error
		if session == nil {
			if db, err = (cql.Engine{}).Open(limited, t); err == nil {
				if session, err = db.Session(limited); err != nil {
					_ = db.Close()
				}
			}
		}
		if err == nil {
			next++
			err = session.Exec(limited, fmt.Sprintf("INSERT INTO attack.ledger (id) VALUES (%d)", next), nil)
		}
		cancel()
		if err != nil {
			drop()
			continue
		}
		l.mu.Lock()
		l.acked = append(l.acked, next)
		l.mu.Unlock()
	}
}

// onRing makes a try on a ring, and looks at it.
func (t *attempt) onRing(ctx context.Context) error {
	l := &ringLedger{}
	writing, stop := context.WithCancel(ctx)
	l.done.Go(func() { l.write(writing, t.m.ringTarget(t.servers...), int64(t.Number)*1e7) })
	ringStories[t.Drawn.Story](ctx, t)
	t.mend(ctx)
	stop()
	l.done.Wait()
	t.Acked = len(l.acked)
	spoken, ended := t.judgeRuns(ctx, t.a)
	if !t.m.settleRing(ctx, t.servers) {
		if spoken == "" {
			t.trouble("the ring is not whole, and no status says so: %s", t.m.ringScene(ctx, t.servers))
		} else {
			t.Looked = "the ring is not whole; said: " + spoken
		}
		for _, s := range t.servers { // before it is judged whether a write is lost
			t.fallen = append(t.fallen, s.Name)
		}
		t.mend(ctx)
		t.m.settleRing(ctx, t.servers)
	}
	rows, err := ask(ctx, t.m.ringTarget(t.servers...), "SELECT run FROM plimsoll.claim WHERE id = 1")
	if err == nil && len(rows) == 1 && slices.Contains(ended, rows[0][0]) {
		t.trouble("run %s has ended, and its claim is left in the ring", rows[0][0])
	}
	if rows, err = ask(ctx, t.m.ringTarget(t.servers...), "SELECT id FROM attack.ledger"); err != nil {
		t.trouble("read the ledger: %v", err)
		return ctx.Err()
	}
	there := map[string]bool{}
	for _, r := range rows {
		there[r[0]] = true
	}
	lost := slices.DeleteFunc(l.acked, func(id int64) bool { return there[fmt.Sprint(id)] })
	if len(lost) > 0 {
		t.trouble("%d acknowledged writes are lost, of %d: %v", len(lost), t.Acked, lost[:min(5, len(lost))])
	}
	return ctx.Err()
}

// ringScene is what each node says: how many others it knows, and which setting it has.
func (m *mixed) ringScene(ctx context.Context, servers []server) (text string) {
	for _, s := range servers {
		rows, err := ask(ctx, m.ringTarget(s), "SELECT peer FROM system.peers")
		if err != nil {
			text += s.Name + " does not answer; "
		} else if len(rows) != len(servers)-1 {
			text += fmt.Sprintf("%s knows %d others; ", s.Name, len(rows))
		}
	}
	return text
}

// settleRing waits until every node answers and knows all others.
func (m *mixed) settleRing(ctx context.Context, servers []server) bool {
	for end := time.Now().Add(90 * time.Second); ; rest(ctx, 2*time.Second) {
		if m.ringScene(ctx, servers) == "" {
			return true
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return false
		}
	}
}

func (m *mixed) ringWhole(ctx context.Context, servers []server) bool {
	return m.settleRing(ctx, servers)
}
