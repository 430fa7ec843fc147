package lookaside

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"plimsoll/engine"
	"plimsoll/workload"
)

// Cache counts what a cache answered. It is safe for concurrent use.
type Cache struct {
	at   Place
	keep time.Duration

	hits, misses, failures atomic.Int64
}

// New is a cache that keeps each answer for a while.
func New(at Place, keep time.Duration) *Cache { return &Cache{at: at, keep: keep} }

// Counts are the reads that the cache answered, those that it had no answer to, and those for which it could not be asked.
func (c *Cache) Counts() (hits, misses, failures int64) {
	return c.hits.Load(), c.misses.Load(), c.failures.Load()
}

// Before puts the cache in front of a database: statements that only read, outside of transactions, ask it first.
func (c *Cache) Before(db engine.Database) engine.Database { return &database{db, c} }

type database struct {
	engine.Database

	cache *Cache
}

func (d *database) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.Database.Session(ctx)
	if err != nil {
		return nil, err
	}
	return &session{Session: s, cache: d.cache, client: &client{at: d.cache.at}}, nil
}

type session struct {
	engine.Session

	cache  *Cache
	client *client
	within bool // a transaction, which must see what it wrote
}

// Prepare readies a statement, which asks the cache if it only reads.
func (s *session) Prepare(ctx context.Context, text string) (engine.Statement, error) {
	st, err := s.Session.Prepare(ctx, text)
	if err != nil || !workload.OnlyReads(text) {
		return st, err
	}
	return &statement{Statement: st, session: s, text: text, result: engine.Result{Keep: true}}, nil
}

// Exec notes where transactions begin and end.
func (s *session) Exec(ctx context.Context, text string, r *engine.Result) error {
	switch word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(text)), " "); strings.TrimSuffix(word, ";") {
	case "BEGIN", "START":
		s.within = true
	case "COMMIT", "ROLLBACK":
		s.within = false
	}
	return s.Session.Exec(ctx, text, r)
}

func (s *session) Close() error {
	s.client.lose()
	return s.Session.Close()
}

type statement struct {
	engine.Statement

	session    *session
	text       string
	key, value []byte
	result     engine.Result
}

// Exec asks the cache, and where it has no answer the database, whose answer it then keeps. A cache that does not answer is done without.
func (st *statement) Exec(ctx context.Context, args []engine.Value, r *engine.Result) error {
	s := st.session
	if s.within {
		return st.Statement.Exec(ctx, args, r)
	}
	if r == nil {
		r = &st.result
	}
	st.key = keyOf(st.key[:0], st.text, args)
	kept, there, err := s.client.get(ctx, st.key)
	if err == nil && there {
		if err = decode(kept, r); err == nil {
			s.cache.hits.Add(1)
			return nil
		}
	}
	if err != nil {
		s.cache.failures.Add(1)
	} else {
		s.cache.misses.Add(1)
	}
	keep := r.Keep
	r.Keep = true
	failed := st.Statement.Exec(ctx, args, r)
	r.Keep = keep
	if failed != nil || err != nil {
		return failed
	}
	st.value = encode(st.value[:0], r)
	if err := s.client.set(ctx, st.key, st.value, s.cache.keep); err != nil {
		s.cache.failures.Add(1)
	}
	return nil
}
