package access

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

const (
	idle     = 12 * time.Hour  // after which a session that nobody used has ended
	codeLife = 5 * time.Minute // of an entry code
)

// sessions are who has entered, by the hash of what their cookie holds: what is kept here lets nobody in.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all map[[32]byte]*session
}

type session struct {
	person Person
	used   time.Time
	ended  chan struct{} // closed when it has: its streams end
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, all: map[[32]byte]*session{}}
}

// begin makes a session and returns what the cookie holds. It is always a new one: nobody can be given a cookie that will be theirs.
func (s *sessions) begin(p Person) (secret string) {
	secret = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	s.all[sha256.Sum256([]byte(secret))] = &session{person: p, used: s.now(), ended: make(chan struct{})}
	return secret
}

// find returns the session of a cookie, nil if there is none any more.
func (s *sessions) find(secret string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	found := s.all[sha256.Sum256([]byte(secret))]
	if found != nil {
		found.used = s.now()
	}
	return found
}

// end ends a session and its streams.
func (s *sessions) end(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(secret))
	if found := s.all[key]; found != nil {
		close(found.ended)
		delete(s.all, key)
	}
}

// sweep ends those that nobody used for long.
func (s *sessions) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
}

// forget ends those that nobody used for long.
func (s *sessions) forget() {
	for key, one := range s.all {
		if s.now().Sub(one.used) > idle {
			close(one.ended)
			delete(s.all, key)
		}
	}
}

// codes are the entry codes that were given out and not used yet.
type codes struct {
	now func() time.Time

	mu  sync.Mutex
	all map[[32]byte]time.Time // when each ends
}

func (c *codes) issue() string {
	code := rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[[32]byte]time.Time{}
	}
	c.all[sha256.Sum256([]byte(code))] = c.now().Add(codeLife)
	return code
}

// take uses a code up; false if it is none, or was used, or is too old.
func (c *codes) take(code string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := sha256.Sum256([]byte(code))
	until, known := c.all[key]
	delete(c.all, key)
	return known && c.now().Before(until)
}

// cookie is the one of this instance: cookies do not know ports, so two Plimsolls on one host need two names.
func (g *Gate) cookie(value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: g.cookieName, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: g.tls, SameSite: http.SameSiteStrictMode,
	}
}
