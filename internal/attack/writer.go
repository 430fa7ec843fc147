package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// stamp is a row that was acknowledged: when, and by whom.
type stamp struct {
	at   time.Time
	node string
}

// writer writes one row after another, as an application does that looks for the primary by itself, and remembers what was acknowledged.
type writer struct {
	mu     sync.Mutex
	acked  map[int64]stamp
	next   int64
	paused int
	write  func(id int64) (node string, err error)
}

func newWriter(write func(int64) (string, error)) *writer {
	return &writer{acked: map[int64]stamp{}, next: time.Now().Unix() * 1000, write: write}
}

func (w *writer) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		if w.paused > 0 {
			w.mu.Unlock()
			time.Sleep(50 * time.Millisecond)
			continue
		}
		w.next++
		id := w.next
		node, err := w.write(id) // with the lock held: after pause no row is under way
		if err == nil {
			w.acked[id] = stamp{time.Now(), node}
		}
		w.mu.Unlock()
		time.Sleep(60 * time.Millisecond)
	}
}

func (w *writer) pause() {
	w.mu.Lock()
	w.paused++
	w.mu.Unlock()
}

func (w *writer) resume() {
	w.mu.Lock()
	w.paused--
	w.mu.Unlock()
}

// missing are the acknowledged rows after one that are not among those found.
func (w *writer) missing(after int64, found []int64) (ids []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	have := map[int64]bool{}
	for _, id := range found {
		have[id] = true
	}
	for id := range w.acked {
		if id > after && !have[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// forget strikes out rows that were told to be lost.
func (w *writer) forget(ids []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		delete(w.acked, id)
	}
}

func (w *writer) stamp(id int64) stamp {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acked[id]
}

func (w *writer) count() (acked int, last int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked), w.next
}

// members are the nodes that belong to the cluster, for those that look at it while it changes.
type members struct {
	mu    sync.Mutex
	names []string
}

func (m *members) set(names []string) {
	m.mu.Lock()
	m.names = slices.Clone(names)
	m.mu.Unlock()
}

func (m *members) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.names)
}

// insert writes a row on the server that accepts writes; the writer's account may not write on others.
func (w *relational) insert(id int64) (string, error) {
	if w.target == nil {
		for _, n := range w.members.list() {
			s := w.server(n, "app", appPassword, "attack")
			if word, err := s.ask(1500*time.Millisecond, "SELECT @@global.read_only"); err == nil && word == "0" {
				w.target = s
				break
			}
			s.close()
		}
	}
	if w.target == nil {
		return "", fmt.Errorf("no server accepts writes")
	}
	node := w.target.name
	_, err := w.target.ask(2*time.Second, fmt.Sprintf("INSERT INTO ledger VALUES (%d, '%s %d')", id, node, id))
	if err != nil {
		w.target.close()
		w.target = nil
	}
	return node, err
}

// present are the rows after one that a server has.
func (w *relational) present(node string, after int64) (ids []int64, err error) {
	text, err := w.admin(node).ask(20*time.Second, fmt.Sprintf("SELECT id FROM attack.ledger WHERE id > %d", after))
	for _, l := range strings.Fields(text) {
		var id int64
		if _, err := fmt.Sscan(l, &id); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}
