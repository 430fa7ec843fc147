package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/web/access"
	"plimsoll/web/words"
)

//go:embed pages assets
var files embed.FS

// screens are the templates of every page, in every language.
type screens map[words.Language]screensIn

type screensIn struct {
	book  words.Book
	pages map[string]*template.Template
}

// pageNames are the files in pages, without those that are parts of others.
var pageNames = []string{"now", "runs", "run", "log", "approve", "runbooks", "runbook", "plan", "fleet", "instance", "alerts", "alert", "advice", "advised", "trials", "trial", "result", "compare", "enter", "trouble"}

func readScreens(now func() time.Time, given func(string) string) (screens, error) {
	all := screens{}
	for _, l := range words.Languages {
		book, err := words.Read(l)
		if err != nil {
			return nil, err
		}
		one := screensIn{book: book, pages: map[string]*template.Template{}}
		for _, name := range pageNames {
			t, err := template.New("shell.html").Funcs(functions(book, now, given)).ParseFS(files, "pages/shell.html", "pages/parts.html", "pages/"+name+".html")
			if err != nil {
				return nil, fmt.Errorf("parse page %s: %w", name, err)
			}
			one.pages[name] = t
		}
		all[l] = one
	}
	return all, nil
}

// frame is what every page knows besides its own.
type frame struct {
	Language words.Language
	Name     string // of the page
	Path     string // of this page, with its query, to come back to
	Person   access.Person
	UTC      bool
	Zone     string
	Page     any
	Sent     string // a token by which the page's stream knows what the page shows already; "": it has none

	parts map[string]string
}

// Part is what changes in an element of the page while it is looked at.
func (f frame) Part(id string) markup { return drawn(f.parts[id]) }

// Operates and Approves say which buttons the person sees work.
func (f frame) Operates() bool { return f.Person.May(access.Operate) }
func (f frame) Approves() bool { return f.Person.May(access.Approve) }

// Entered tells whether the page is shown to somebody who is known.
func (f frame) Entered() bool { return f.Person.Role > access.Nobody }

// Languages are those to choose from.
func (f frame) Languages() []words.Language { return words.Languages }

const (
	languageCookie = "plimsoll-language"
	zoneCookie     = "plimsoll-zone"
)

func chosen(r *http.Request, cookie string) string {
	c, err := r.Cookie(cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// show answers with a page, or with the same as JSON for who asks for that.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	w.Header().Set("Vary", "Accept, Accept-Language, Cookie")
	if wantsJSON(r) {
		s.showJSON(w, r, status, data)
		return
	}
	language, _ := s.speak(r)
	f := frame{
		Language: language, Name: name, Path: r.URL.RequestURI(), Person: access.PersonOf(r.Context()), Page: data,
		UTC: chosen(r, zoneCookie) == "utc",
	}
	if r.Method != http.MethodGet {
		f.Path = "/"
	}
	f.Zone = zoneOf(f.UTC, s.Now())
	if c, is := w.(*captured); is {
		c.frame, c.status = f, status
		return
	}
	var b bytes.Buffer
	page := s.screens[language].pages[name]
	var err error
	if f.parts, err = partsIn(page, f); err == nil {
		f.Sent = s.live.sent(f.parts)
		err = page.ExecuteTemplate(&b, "shell.html", f)
	}
	if err != nil {
		s.Log.Error("render", "page", name, "error", err)
		http.Error(w, "this page cannot be shown; the terminal of plimsoll serve says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", string(language))
	text := compressed(w, r, plain(b.Bytes()))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the reader may be gone
}

// partsIn renders what changes in a page while it is looked at, by the ids of the elements.
func partsIn(page *template.Template, f frame) (map[string]string, error) {
	parts := map[string]string{}
	for _, t := range page.Templates() {
		id, is := strings.CutPrefix(t.Name(), "live-")
		if !is {
			continue
		}
		var b bytes.Buffer
		if err := t.Execute(&b, f); err != nil {
			return nil, fmt.Errorf("part %s: %w", id, err)
		}
		parts[id] = string(plain(b.Bytes()))
	}
	return parts, nil
}

func (s *Server) showJSON(w http.ResponseWriter, r *http.Request, status int, data any) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(data); err != nil { // not indented: of curves that would be more than they are

		s.Log.Error("encode", "error", err)
		http.Error(w, `{"error": "this cannot be shown"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	text := compressed(w, r, b.Bytes())
	w.WriteHeader(status)
	_, _ = w.Write(text) // the reader may be gone
}

func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// colours are what a program writes for a terminal, and what else would be a control character.
var colours = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\-_])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

// plain is a page without them. Most pages have none, and are not searched by the expression, which takes longer than all else of a long page.
func plain(b []byte) []byte {
	if !slices.ContainsFunc(b, control) {
		return b
	}
	return colours.ReplaceAll(b, nil)
}

// control tells whether a character is one of those that colours takes away.
func control(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f }

// prefer keeps the language and the clock that a person chose, and goes back to where they were.
func (s *Server) prefer(w http.ResponseWriter, r *http.Request) error {
	for _, c := range []struct{ name, value string }{{languageCookie, r.PostFormValue("language")}, {zoneCookie, r.PostFormValue("zone")}} {
		if c.value != "" {
			http.SetCookie(w, &http.Cookie{Name: c.name, Value: url.QueryEscape(c.value), Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
		}
	}
	back(w, r, r.PostFormValue("back"))
	return nil
}

// back sends to a path of this page, and nowhere else.
func back(w http.ResponseWriter, r *http.Request, to string) {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		to = "/"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
