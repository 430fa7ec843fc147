package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"plimsoll/web/access"
	"plimsoll/web/words"
)

// How the streams keep time.
const (
	mostStreams = 200
	lookEvery   = time.Second            // at what is shown, without a reason
	lookAgain   = 100 * time.Millisecond // at the earliest, when something happened
	pingEvery   = 5 * time.Second        // a stream that is mute for longer than two of these is taken for dead by the page
	slowest     = 30 * time.Second       // a reader who takes nothing for so long is cut off
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
}

// show is a page as some readers see it.
type show struct {
	readers int
	end     context.CancelFunc
	poke    chan struct{} // something happened: look again

	mu      sync.Mutex
	parts   map[string]part // by the id of the element
	version int
	changed chan struct{} // closed at the next version
}

// part is an element's content.
type part struct {
	html    string
	still   string // without what only the clock changes
	version int    // of the show, since when it is so
}

func newLive(ctx context.Context, s *Server) *live {
	l := &live{server: s, shows: map[string]*show{}}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

// happened has every page looked at again.
func (l *live) happened() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shows {
		select {
		case s.poke <- struct{}{}:
		default:
		}
	}
}

func (l *live) close() {
	l.end()
	l.all.Wait()
}

// enter joins the readers of a page; leave must be called.
func (l *live) enter(key string, look func(context.Context) (map[string]string, error)) (s *show, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams >= mostStreams || l.ctx.Err() != nil {
		return nil, nil, &busyError{}
	}
	l.streams++
	s = l.shows[key]
	if s == nil {
		ctx, end := context.WithCancel(l.ctx)
		s = &show{end: end, poke: make(chan struct{}, 1), parts: map[string]part{}, changed: make(chan struct{})}
		l.shows[key] = s
		l.all.Go(func() { s.keep(ctx, look) })
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
	}, nil
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

var clocks = regexp.MustCompile(`<time [^>]*>[^<]*</time>|<span class="quiet since">[^<]*</span>`)

// put keeps the parts that are others than before.
func (s *show) put(parts map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, fresh := s.version+1, false
	for id, html := range parts {
		still := clocks.ReplaceAllString(html, "")
		if old, known := s.parts[id]; !known || old.still != still {
			s.parts[id], fresh = part{html, still, next}, true
		}
	}
	if fresh {
		s.version = next
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// since returns the parts that changed after a version, the version now, and what to wait for.
func (s *show) since(version int) (map[string]string, int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := map[string]string{}
	for id, p := range s.parts {
		if p.version > version {
			changed[id] = p.html
		}
	}
	return changed, s.version, s.changed
}

// stream sends what changes on a page, as server-sent events: one stream for each tab, because a browser opens only six to one host.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	page := r.FormValue("page")
	u, err := url.Parse(page)
	if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return &badRequest{"no page was named", ""}
	}
	as := viewer{
		person: access.PersonOf(r.Context()), cookies: r.Header.Get("Cookie"), accepts: r.Header.Get("Accept-Language"),
		language: words.Choose(chosen(r, languageCookie), r.Header.Get("Accept-Language")), utc: chosen(r, zoneCookie) == "utc",
	}
	shown, leave, err := s.live.enter(as.key(u.RequestURI()), func(ctx context.Context) (map[string]string, error) { return s.partsOf(ctx, u, as) })
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
	version := 0
	for {
		parts, now, changed := shown.since(version)
		version = now
		if !s.Gate.Still(as.person) {
			_ = out.event("bye", `"session"`) // the page will ask who it is
			return nil
		}
		if err := out.parts(parts); err != nil {
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

func (s sender) parts(parts map[string]string) error {
	for id, html := range parts {
		data, err := json.Marshal(map[string]string{"id": id, "html": html})
		if err != nil {
			return err
		}
		if err := s.event("part", string(data)); err != nil {
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

func (v viewer) key(uri string) string {
	return fmt.Sprint(uri, v.language, v.utc, v.person.Role, v.person.Name, v.person.Method)
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

// partsOf renders the parts of a page that change while it is looked at.
func (s *Server) partsOf(ctx context.Context, u *url.URL, as viewer) (map[string]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.RequestURI(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Cookie", as.cookies)
	r.Header.Set("Accept-Language", as.accepts)
	c := &captured{header: http.Header{}}
	s.mux.ServeHTTP(c, access.As(r, as.person))
	if c.status != http.StatusOK {
		return nil, errNoPage
	}
	parts := map[string]string{}
	page := s.screens[as.language].pages[c.frame.Name]
	for _, t := range page.Templates() {
		id, is := strings.CutPrefix(t.Name(), "live-")
		if !is {
			continue
		}
		var b bytes.Buffer
		if err := t.Execute(&b, c.frame); err != nil {
			s.Log.Error("render", "page", c.frame.Name, "part", id, "error", err)
			return nil, err
		}
		parts[id] = string(plain(b.Bytes()))
	}
	return parts, nil
}
