package books_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
)

// traffic is a few clients with ordinary privileges that write, and note what was acknowledged. A client whose connection
// ends looks for the server that takes writes, as a driver with several hosts does.
type traffic struct {
	targets []engine.Target
	stop    context.CancelFunc
	clients sync.WaitGroup

	mu      sync.Mutex
	acked   map[string]bool
	gap     time.Duration // the longest time between two acknowledged writes
	last    time.Time
	refused map[engine.Class]int
}

const clients = 4

// begin makes the table and an account, and begins to write.
func (c *threeServers) traffic() *traffic {
	c.Helper()
	c.tell("", "CREATE DATABASE IF NOT EXISTS shop", "CREATE TABLE IF NOT EXISTS shop.orders (id VARCHAR(40) PRIMARY KEY) ENGINE=InnoDB",
		"CREATE USER IF NOT EXISTS app IDENTIFIED BY 'app-password'", "GRANT SELECT, INSERT ON shop.* TO app")
	ctx, stop := context.WithCancel(c.Context())
	t := &traffic{stop: stop, acked: map[string]bool{}, refused: map[engine.Class]int{}}
	for _, n := range c.lab.Nodes() {
		target, err := c.lab.Target(n.Name)
		c.must(err)
		target.User, target.Password, target.Namespace, target.Timeout = "app", "app-password", "shop", time.Second
		t.targets = append(t.targets, target)
	}
	run := time.Now().UnixNano()
	for client := range clients {
		t.clients.Go(func() { t.write(ctx, fmt.Sprintf("%d-%d", run, client)) })
	}
	t.await(c.T, 5)
	return t
}

// write writes until ctx ends.
func (t *traffic) write(ctx context.Context, name string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var s engine.Session
	var db engine.Database
	for n := 0; ctx.Err() == nil; n++ {
		<-tick.C
		if s == nil {
			if db, s = t.connect(ctx); s == nil {
				continue
			}
		}
		id := fmt.Sprintf("%s-%d", name, n)
		err := s.Exec(ctx, "INSERT INTO orders VALUES ('"+id+"')", nil)
		if err == nil {
			t.note(id)
			continue
		}
		if ctx.Err() == nil { // else we ended it ourselves, and whether it was done is not known
			t.mu.Lock()
			t.refused[engine.ClassOf(err)]++
			t.mu.Unlock()
		}
		_, _ = s.Close(), db.Close()
		s = nil
	}
	if s != nil {
		_, _ = s.Close(), db.Close()
	}
}

// connect finds the server that takes writes, nil if none does.
func (t *traffic) connect(ctx context.Context) (engine.Database, engine.Session) {
	for _, target := range t.targets {
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		db, err := enginemysql.Engine{}.Open(limited, target)
		if err != nil {
			cancel()
			continue
		}
		s, err := db.Session(limited)
		r := engine.Result{Keep: true}
		if err == nil {
			err = s.Exec(limited, "SELECT @@GLOBAL.read_only", &r)
		}
		cancel()
		if err == nil && r.Rows == 1 && r.At(0, 0).Int == 0 {
			return db, s
		}
		if s != nil {
			_ = s.Close()
		}
		_ = db.Close()
	}
	return nil, nil
}

func (t *traffic) note(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.last.IsZero() {
		t.gap = max(t.gap, now.Sub(t.last))
	}
	t.last = now
	t.acked[id] = true
}

func (t *traffic) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.acked)
}

// await waits until so many more writes are acknowledged.
func (t *traffic) await(on *testing.T, more int) {
	on.Helper()
	want := t.count() + more
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); t.count() < want; <-tick.C {
		if time.Now().After(end) {
			on.Fatalf("nothing is written any more: %v", t.refused)
		}
	}
}

// end stops the clients.
func (t *traffic) end() {
	t.stop()
	t.clients.Wait()
}

// lost lists acknowledged writes that a node does not have, when it has all that the primary has.
func (t *traffic) lost(c *threeServers, node string) []string {
	c.Helper()
	has, err := c.on.Column(c.Context(), node, "SELECT id FROM shop.orders")
	c.must(err)
	there := make(map[string]bool, len(has))
	for _, id := range has {
		there[id] = true
	}
	var lost []string
	for id := range t.acked {
		if !there[id] {
			lost = append(lost, id)
		}
	}
	return lost
}
