package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/durable"
	"plimsoll/web/access"
	"plimsoll/web/words"
)

// How the streams keep time.
const (
	mostStreams = 200
	lookEvery   = time.Second           // at what is shown, without a reason
	lookAgain   = 50 * time.Millisecond // at the earliest, when something happened
	listenEvery = 40 * time.Millisecond // for what other processes write into the journals
	pingEvery   = 5 * time.Second       // a stream that is mute for longer than two of these is taken for dead by the page
	slowest     = 30 * time.Second      // a reader who takes nothing for so long is cut off
)

// live keeps the pages that somebody looks at up to date: each is rendered once for all who see the same, and only the parts of it that
// changed are sent. What a reader missed does not matter: the next part is the latest.
type live struct {
	server *Server
	ctx    context.Context
	end    context.CancelFunc
	all    sync.WaitGroup

	mu      sync.Mutex
	streams int
	shows   map[string]*show
	pages   []sentPage         // the last, the latest at the end
	deaf    context.CancelFunc // ends listening; nil: nobody looks at runs
}

// show is a page as some readers see it.
type show struct {
	readers int
	end     context.CancelFunc
	prompt  bool          // what happens in a run or a trial is to be seen at once
	poke    chan struct{} // something happened: look again

	mu      sync.Mutex
	parts   map[string]*part // by the id of the element
	version int
	changed chan struct{} // closed at the next version
}

func newLive(ctx context.Context, s *Server) *live {
	l := &live{server: s, shows: map[string]*show{}}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

// sentPage is what a page showed when it was sent. Its stream begins with what has changed since: a large fleet is not sent twice, and the browser does not go
// through all of it once more.
type sentPage struct {
	token string // random: of another process there is no page with the same
	at    time.Time
	parts map[string]string
}

const (
	mostPages = 16               // whose streams have not begun
	sentFor   = 10 * time.Second // a stream begins as soon as the page is there
)

// sent keeps what a page shows until its stream begins, and returns the token by which the stream asks for it; "" for a page without parts.
func (l *live) sent(parts map[string]string) (token string) {
	if len(parts) == 0 {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.pages = slices.DeleteFunc(l.pages, func(p sentPage) bool { return now.Sub(p.at) > sentFor })
	l.pages = slices.Delete(l.pages, 0, max(len(l.pages)-mostPages+1, 0))
	token = rand.Text()
	l.pages = append(l.pages, sentPage{token, now, parts})
	return token
}

// shown returns what the page of a token showed, once. Where nobody knows that any more, or it was long ago, the stream sends all of it.
func (l *live) shown(token string) map[string]*part {
	l.mu.Lock()
	n := slices.IndexFunc(l.pages, func(p sentPage) bool { return p.token == token && time.Since(p.at) <= sentFor })
	var page sentPage
	if n >= 0 {
		page = l.pages[n]
		l.pages = slices.Delete(l.pages, n, n+1)
	}
	l.mu.Unlock()
	parts := map[string]*part{}
	for id, text := range page.parts {
		parts[id] = partOf(text, 0)
	}
	return parts
}

// happened has every page that shows runs or trials looked at again.
func (l *live) happened() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shows {
		if !s.prompt {
			continue
		}
		select {
		case s.poke <- struct{}{}:
		default:
		}
	}
}

// listen notices, while somebody looks at runs, what any process writes into the journals of this state folder.
func (l *live) listen(ctx context.Context) {
	known := -1
	for {
		if n, err := durable.Length(ctx, l.server.Runs.Store); err == nil && n != known { // without an answer each look says why
			if known >= 0 {
				l.happened()
			}
			known = n
		}
		if !rest(ctx, listenEvery) {
			return
		}
	}
}

func (l *live) close() {
	l.end()
	l.all.Wait()
}

// enter joins the readers of a page; leave must be called.
func (l *live) enter(key string, prompt bool, look func(context.Context) (map[string]string, error)) (s *show, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams >= mostStreams || l.ctx.Err() != nil {
		return nil, nil, &busyError{}
	}
	l.streams++
	s = l.shows[key]
	if s == nil {
		ctx, end := context.WithCancel(l.ctx)
		s = &show{end: end, prompt: prompt, poke: make(chan struct{}, 1), parts: map[string]*part{}, changed: make(chan struct{})}
		l.shows[key] = s
		l.all.Go(func() { s.keep(ctx, look) })
	}
	if prompt && l.deaf == nil {
		var ctx context.Context
		ctx, l.deaf = context.WithCancel(l.ctx)
		l.all.Go(func() { l.listen(ctx) })
	}
	s.readers++
	return s, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.streams--
		if s.readers--; s.readers == 0 {
			s.end()
			delete(l.shows, key)
		}
		if l.deaf != nil && !l.prompts() {
			l.deaf()
			l.deaf = nil
		}
	}, nil
}

// prompts tells whether somebody looks at runs or trials; mu is held.
func (l *live) prompts() bool {
	for _, s := range l.shows {
		if s.prompt {
			return true
		}
	}
	return false
}

// busyError is one reader too many.
type busyError struct{}

func (*busyError) Error() string {
	return fmt.Sprintf("%d pages are streamed already; this one is polled instead", mostStreams)
}

// keep looks until nobody reads any more: when something happened, and once a second, or less often where a look takes long.
func (s *show) keep(ctx context.Context, look func(context.Context) (map[string]string, error)) {
	for {
		began := time.Now()
		if parts, err := look(ctx); err == nil {
			s.put(parts)
		}
		took := time.Since(began)
		if !rest(ctx, max(lookAgain, took)) {
			return
		}
		wait := time.NewTimer(max(lookEvery-time.Since(began), 4*took))
		select {
		case <-s.poke:
		case <-wait.C:
		case <-ctx.Done():
		}
		wait.Stop()
	}
}

// rest waits; false: ctx has ended.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// stream sends what changes on a page, as server-sent events: one stream for each tab, because a browser opens only six to one host.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	page := r.FormValue("page")
	u, err := url.Parse(page)
	if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") || u.Path == "/live" {
		return &badRequest{"no page was named", ""}
	}
	as := viewer{
		person: access.PersonOf(r.Context()), cookies: r.Header.Get("Cookie"), accepts: r.Header.Get("Accept-Language"),
		language: words.Choose(chosen(r, languageCookie), r.Header.Get("Accept-Language")), utc: chosen(r, zoneCookie) == "utc",
	}
	prompt := u.Path == "/" || strings.HasPrefix(u.Path, "/runs") || strings.HasPrefix(u.Path, "/trials")
	shown, leave, err := s.live.enter(as.key(u), prompt, func(ctx context.Context) (map[string]string, error) { return s.partsOf(ctx, u, as) })
	if err != nil {
		return err
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no") // nginx
	w.WriteHeader(http.StatusOK)
	out := sender{w: w, flush: http.NewResponseController(w)}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	ended := s.Gate.Ended(r)
	version, before := 0, s.live.shown(r.FormValue("sent"))
	for {
		updates, now, changed := shown.since(version, before)
		if version == 0 && now > 0 && len(updates) == 0 { // the page is as it was sent, and is told that the stream is there
			err = out.event("ping", `""`)
		}
		if version = now; version > 0 {
			before = nil
		}
		if !s.Gate.Still(as.person) {
			_ = out.event("bye", `"session"`) // the page will ask who it is
			return nil
		}
		if err := out.updates(updates); err != nil {
			return nil //nolint:nilerr // the reader is gone
		}
		select {
		case <-changed:
		case <-ping.C:
			err = out.event("ping", `""`)
		case <-ended:
			_ = out.event("bye", `"session"`) // the page will ask who it is
			return nil
		case <-s.live.ctx.Done():
			_ = out.event("bye", `"stopped"`)
			return nil
		case <-r.Context().Done():
			return nil
		}
		if err != nil {
			return nil //nolint:nilerr // the reader is gone
		}
	}
}

// sender writes events, each within a time.
type sender struct {
	w     http.ResponseWriter
	flush *http.ResponseController
}

func (s sender) updates(all []update) error {
	for _, u := range all {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // it is data of a stream and stands in no page as it is: escaped it would be half as long again
		if err := e.Encode(u); err != nil {
			return err
		}
		if err := s.event("part", strings.TrimSpace(b.String())); err != nil {
			return err
		}
	}
	return nil
}

func (s sender) event(kind, data string) error {
	_ = s.flush.SetWriteDeadline(time.Now().Add(slowest)) // where there are none, a slow reader is not cut off
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, data); err != nil {
		return err
	}
	return s.flush.Flush()
}

// viewer is who looks, as far as it changes what is shown.
type viewer struct {
	person   access.Person
	cookies  string
	accepts  string
	language words.Language
	utc      bool
}

// key is the same for all who see the same of a page: only an approval differs from person to person.
func (v viewer) key(u *url.URL) string {
	key := fmt.Sprint(u.RequestURI(), v.language, v.utc, v.person.Role)
	if strings.HasSuffix(u.Path, "/approve") {
		key += fmt.Sprint(" ", v.person.Name, v.person.Method, v.person.Since)
	}
	return key
}

// captured takes what a handler wants to show instead of rendering all of it.
type captured struct {
	header http.Header
	frame  frame
	status int
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) Write(b []byte) (int, error) { return len(b), nil }
func (c *captured) WriteHeader(status int)      { c.status = status }

// partsOf renders the parts of a page that change while it is looked at. What panics in a page's handler ends no more than this look.
func (s *Server) partsOf(ctx context.Context, u *url.URL, as viewer) (parts map[string]string, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			s.Log.Error("look at a page", "page", u.Path, "panic", panicked, "stack", string(debug.Stack()))
			parts, err = nil, errNoPage
		}
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.RequestURI(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Cookie", as.cookies)
	r.Header.Set("Accept-Language", as.accepts)
	c := &captured{header: http.Header{}}
	s.mux.ServeHTTP(c, access.As(r, as.person))
	page := s.screens[as.language].pages[c.frame.Name]
	if c.status != http.StatusOK || page == nil { // a style sheet, a file to keep, what Grafana asks for
		return nil, errNoPage
	}
	if parts, err = partsIn(page, c.frame); err != nil {
		s.Log.Error("render", "page", c.frame.Name, "error", err)
	}
	return parts, err
}
