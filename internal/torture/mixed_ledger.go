package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
)

// ledger writes all the time, as an application without rights to write where it is read only, and remembers what was acknowledged. A
// watcher beside it looks whether two servers take writes at once.
type ledger struct {
	servers []server
	user    engine.Target

	mu    sync.Mutex
	acked []int64
	next  int64
	twice []string // moments at which two servers took writes
	hold  bool

	stop func()
	done sync.WaitGroup
}

func newLedger(ctx context.Context, servers []server, user engine.Target, first int64) *ledger {
	ctx, stop := context.WithCancel(ctx)
	l := &ledger{servers: servers, user: user, next: first, stop: stop}
	l.done.Go(func() { l.write(ctx) })
	l.done.Go(func() { l.watch(ctx) })
	return l
}

// quiet keeps it from writing, or lets it write again.
func (l *ledger) quiet(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold = yes
}

func (l *ledger) close() {
	l.stop()
	l.done.Wait()
}

func (l *ledger) write(ctx context.Context) {
	var session engine.Session
	drop := func() {
		if session != nil {
			_ = session.Close()
			session = nil
		}
	}
	defer drop()
	for at := 0; ctx.Err() == nil; rest(ctx, 10*time.Millisecond) {
		l.mu.Lock()
		id, hold := l.next, l.hold
		l.next++
		l.mu.Unlock()
		if hold {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, time.Second)
		err := error(nil)
		if session == nil {
			t := l.user
			t.Addresses = []string{l.servers[at%len(l.servers)].Address}
			session, err = mysql.Engine{}.Dial(limited, t)
		}
		if err == nil {
			err = session.Exec(limited, fmt.Sprintf("INSERT INTO attack.ledger VALUES (%d)", id), nil)
		}
		cancel()
		if err != nil {
			drop()
			at++
			continue
		}
		l.mu.Lock()
		l.acked = append(l.acked, id)
		l.mu.Unlock()
	}
}

// watch asks all who takes writes, forth and back: two that do so both times did at once.
func (l *ledger) watch(ctx context.Context) {
	sessions := make([]engine.Session, len(l.servers))
	ask := func(i int) bool {
		limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		if sessions[i] == nil {
			t := l.servers[i].account
			t.Addresses = []string{l.servers[i].Address}
			s, err := mysql.Engine{}.Dial(limited, t)
			if err != nil {
				return false
			}
			sessions[i] = s
		}
		rows, err := sessions[i].(engine.Tabular).Table(limited, "SELECT @@GLOBAL.read_only AS r")
		if err != nil {
			_ = sessions[i].Close()
			sessions[i] = nil
			return false
		}
		return len(rows) == 1 && rows[0]["r"] == "0"
	}
	for ; ctx.Err() == nil; rest(ctx, 50*time.Millisecond) {
		var open, both []string
		for i := range l.servers {
			if ask(i) {
				open = append(open, l.servers[i].Name)
			}
		}
		if len(open) < 2 {
			continue
		}
		for i := len(l.servers) - 1; i >= 0; i-- {
			if ask(i) && slices.Contains(open, l.servers[i].Name) {
				both = append(both, l.servers[i].Name)
			}
		}
		if len(both) > 1 {
			l.mu.Lock()
			if len(l.twice) < 5 {
				l.twice = append(l.twice, fmt.Sprintf("%s: %v", time.Now().UTC().Format("15:04:05.000"), both))
			}
			l.mu.Unlock()
		}
	}
	for _, s := range sessions {
		if s != nil {
			_ = s.Close()
		}
	}
}

// lost are the acknowledged rows that a server does not have.
func (l *ledger) lost(ctx context.Context, s server) ([]int64, error) {
	rows, err := s.table(ctx, "SELECT id FROM attack.ledger")
	if err != nil {
		return nil, fmt.Errorf("read the ledger of %s: %w", s.Name, err)
	}
	there := map[int64]bool{}
	for _, r := range rows {
		id, err := strconv.ParseInt(r["id"], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the ledger of %s: %w", s.Name, err)
		}
		there[id] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.acked), func(id int64) bool { return there[id] }), nil
}
