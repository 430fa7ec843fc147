package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
)

// Options are how a page is reached and who may.
type Options struct {
	Listen   string           // host:port, or the path of a Unix socket
	Config   string           // path of the web-config file; empty: entry codes and the token let in, as Owner
	Instance string           // tells two Plimsolls on one host apart
	Owner    string           // who runs plimsoll serve
	Token    string           // lets programs in, as nobody in particular; empty: none
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: nothing is logged
}

// Gate lets requests in. It is safe for concurrent use.
type Gate struct {
	o          Options
	hosts      Hosts
	tls        bool
	cookieName string
	sessions   *sessions
	codes      codes
	passwords  passwords
	pace       pace
	now        func() time.Time
	dropped    once // addresses whose header with a name was ignored, and logged
}

// New refuses what would let in whoever asks: an address that other machines reach needs users and a certificate, or a Unix socket.
func New(o Options) (*Gate, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	g := &Gate{o: o, now: o.Now, sessions: newSessions(o.Now), codes: codes{now: o.Now}, pace: pace{now: o.Now, every: 6 * time.Second, burst: 10}}
	sum := sha256.Sum256([]byte(o.Instance + "\x00" + o.Listen))
	g.cookieName = "plimsoll-" + hex.EncodeToString(sum[:4])
	c, err := g.config()
	if err != nil {
		return nil, err
	}
	g.hosts, g.tls = NewHosts(o.Listen, c.Hosts...), c.TLS != nil
	if !Loopback(o.Listen) && !g.onSocket() && (len(c.Users) == 0 || c.TLS == nil) {
		return nil, hint.With(fmt.Errorf("%s: %w", o.Listen, errNoUsers), "plimsoll serve --listen "+hint.Quoted(o.Listen)+" --web-config FILE, where the file has basic_auth_users and tls_server_config; docs/web.md shows one")
	}
	return g, nil
}

// config reads the web-config file as it is now.
func (g *Gate) config() (Config, error) {
	if g.o.Config == "" {
		return Config{}, nil
	}
	return ReadConfig(g.o.Config)
}

func (g *Gate) onSocket() bool { return strings.HasPrefix(g.o.Listen, "/") }

// Secure is how the page speaks TLS; nil: it does not.
func (g *Gate) Secure() (*TLS, error) {
	c, err := g.config()
	return c.TLS, err
}

// Code gives out an entry code, which is good once and for five minutes.
func (g *Gate) Code() string { return g.codes.issue() }

// ByCodes tells whether people enter by codes and not by passwords.
func (g *Gate) ByCodes() bool { return g.o.Config == "" }

// Guard lets through to pages what may see them; open tells which paths need no person. strangers answers who must show who they are.
func (g *Gate) Guard(pages http.Handler, open func(path string) bool, strangers http.Handler) http.Handler {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := g.person(r)
		switch {
		case err != nil:
			http.Error(w, "the web configuration cannot be read; the terminal of plimsoll serve says why", http.StatusInternalServerError)
		case open(r.URL.Path) || p.Role > Nobody:
			pages.ServeHTTP(w, As(r, p))
		default:
			strangers.ServeHTTP(w, r)
		}
	})
	origin := http.NewCrossOriginProtection()
	if c, err := g.config(); err == nil {
		for _, name := range c.Hosts {
			_ = origin.AddTrustedOrigin("https://" + name) // a proxy may ask us by another name; one that is no origin is not trusted
		}
	}
	return headers(g.tls, origin.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.onSocket() && !g.hosts.Allow(r) {
			http.Error(w, fmt.Sprintf("this page is not called %q; name it under hosts: in the web configuration if it is", r.Host), http.StatusMisdirectedRequest)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		inner.ServeHTTP(w, r)
	})))
}

// headers says to the browser what the page never does, so that what slips in cannot either.
func headers(secure bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// person is who a request comes from; the zero Person: a stranger.
func (g *Gate) person(r *http.Request) (Person, error) {
	c, err := g.config()
	if err != nil {
		return Person{}, err
	}
	if p, said := g.authorised(r, c); said {
		return p, nil
	}
	if p, named := g.named(r, c); named {
		return p, nil
	}
	if changes(r) && r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		return Person{}, nil // not from a page of ours: a program must say by Authorization who asks
	}
	s := g.session(r)
	if s == nil {
		return Person{}, nil
	}
	p := s.person
	if !g.ByCodes() && p.Method == ByPassword { // the file may have changed since
		if c.Users[p.Name] == "" {
			return Person{}, nil
		}
		p.Role = c.role(p.Name)
	}
	return p, nil
}

func changes(r *http.Request) bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method)
}

// authorised is who the request says it is by an Authorization header. Who says it wrongly is a stranger, whatever else they have.
func (g *Gate) authorised(r *http.Request, c Config) (p Person, said bool) {
	given := r.Header.Get("Authorization")
	if given == "" {
		return p, false
	}
	if token, is := strings.CutPrefix(given, "Bearer "); is {
		if g.o.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(g.o.Token)) == 1 {
			p = Person{Name: g.o.Owner, Role: Approve, Method: ByToken, Since: g.now()}
		}
		return p, true
	}
	user, password, ok := r.BasicAuth()
	if ok && g.pace.take(peer(r)) && g.passwords.match(c.Users[user], password) {
		g.pace.give(peer(r))
		p = Person{Name: user, Role: c.role(user), Method: ByPassword, Since: g.now()}
	}
	return p, true
}

// named is who a trusted proxy says that the request comes from.
func (g *Gate) named(r *http.Request, c Config) (Person, bool) {
	if c.Proxy == nil {
		return Person{}, false
	}
	user := r.Header.Get(c.Proxy.Header)
	if user == "" {
		return Person{}, false
	}
	if !g.onSocket() && !c.Proxy.trusts(r.RemoteAddr) {
		if g.o.Log != nil && g.dropped.first(peer(r)) {
			g.o.Log.Warn("a header that names a person is ignored: it does not come from the proxy of the web configuration", "from", peer(r), "header", c.Proxy.Header)
		}
		return Person{}, false
	}
	return Person{Name: user, Role: c.role(user), Method: ByProxy, Since: g.now()}, true
}

func (p Proxy) trusts(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(p.From, func(from string) bool {
		network, err := prefix(from)
		return err == nil && network.Contains(at.Addr().Unmap())
	})
}

func (g *Gate) session(r *http.Request) *session {
	c, err := r.Cookie(g.cookieName)
	if err != nil {
		return nil
	}
	return g.sessions.find(c.Value)
}

// Ended is closed when the session of a request has ended; nil for requests without one.
func (g *Gate) Ended(r *http.Request) <-chan struct{} {
	if s := g.session(r); s != nil {
		return s.ended
	}
	return nil
}

// Still tells whether a person who entered may see as much as then: their user stands in the file with the same role, and their session was
// used lately. A page that is looked at for long asks it; to be looked at is no use of the session.
func (g *Gate) Still(p Person) bool {
	g.sessions.sweep()
	c, err := g.config()
	switch {
	case err != nil:
		return false
	case p.Method == ByPassword:
		return c.Users[p.Name] != "" && c.role(p.Name) == p.Role
	case p.Method == ByProxy:
		return c.Proxy != nil && c.role(p.Name) == p.Role
	}
	return true
}

// Enter lets a person in by a code, or by a name and a password, and gives them a cookie. What it refuses, it does not say why.
func (g *Gate) Enter(w http.ResponseWriter, r *http.Request, code, name, password string) (bool, error) {
	c, err := g.config()
	if err != nil {
		return false, err
	}
	if !g.pace.take(peer(r)) {
		return false, nil
	}
	var p Person
	switch {
	case g.ByCodes():
		if !g.codes.take(code) {
			return false, nil
		}
		p = Person{Name: g.o.Owner, Role: Approve, Method: ByCode, Since: g.now()}
	default:
		if !g.passwords.match(c.Users[name], password) {
			return false, nil
		}
		p = Person{Name: name, Role: c.role(name), Method: ByPassword, Since: g.now()}
	}
	g.pace.give(peer(r))
	if old, err := r.Cookie(g.cookieName); err == nil {
		g.sessions.end(old.Value)
	}
	http.SetCookie(w, g.cookie(g.sessions.begin(p), int(idle/time.Second)))
	return true, nil
}

// Leave ends the session of a request.
func (g *Gate) Leave(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(g.cookieName); err == nil {
		g.sessions.end(c.Value)
	}
	http.SetCookie(w, g.cookie("", -1))
}

// peer is the address that a request comes from, without its port.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
