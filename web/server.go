// Package web is the page that plimsoll serve shows: what is, what runs and what waits for a person, over the same services as the
// command line. All of it can be read, and every answer given, without JavaScript.
package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"plimsoll/cluster"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/web/access"
)

// Deps is what the page works with.
type Deps struct {
	Gate *access.Gate
	Runs *execute.Service // of the person who runs plimsoll serve
	// Look opens a cluster to read from it, also while a run holds it.
	Look     func(ctx context.Context, cluster string) (*cluster.Cluster, error)
	Clusters func(ctx context.Context) []string
	Runbooks []string // the names of those that ship
	Runbook  func(name string) (*runbook.Runbook, error)
	Trials   Trials
	Watch    Watch
	Advice   Advice
	// Given puts what Plimsoll was started with into the commands that pages name; nil: nothing.
	Given func(text string) string
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
}

// Server answers requests until Close.
type Server struct {
	Deps
	screens   screens
	turn      *turn
	states    states
	reports   reports
	queries   queries
	urgencies urgencies
	live      *live
	running   *bench
	looks     *adviceLooks
	mux       *http.ServeMux
	handler   http.Handler
}

// New makes the page.
func New(ctx context.Context, d Deps) (*Server, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Given == nil {
		d.Given = func(text string) string { return text }
	}
	s := &Server{Deps: d}
	var err error
	if s.screens, err = readScreens(d.Now, d.Given); err != nil {
		return nil, err
	}
	s.live = newLive(ctx, s)
	executing := *d.Runs
	executing.Observe = func(string, journal.Event, time.Time) { s.live.happened() }
	s.turn = newTurn(ctx, &executing, d.Log)
	s.running = newBench(ctx, d.Trials, d.Log)
	s.looks = newLooks(ctx, d.Advice)
	s.mux = s.routes()
	s.handler = d.Gate.Guard(s.mux, open, http.HandlerFunc(s.stranger))
	return s, nil
}

// Handler is the whole page, guarded.
func (s *Server) Handler() http.Handler { return s.handler }

// TakeUp goes on with the runs whose process died, if nobody else executes runs here.
func (s *Server) TakeUp() { s.turn.takeUp() }

// Close stops what the page executes: what acts now may end, nothing else begins. It returns the runs that it executed.
func (s *Server) Close() []string {
	s.running.end() // all at once: each may take a while
	s.looks.end()
	runs := s.turn.close()
	s.running.close()
	s.looks.close()
	s.live.close()
	return runs
}

// page answers a request or says why it cannot; what it returns is shown in one place.
type page func(w http.ResponseWriter, r *http.Request) error

// The pages, by what they are about.
type (
	runHandlers   struct{ *Server } // runbooks, plans, runs, and the answers to them
	fleetHandlers struct{ *Server } // clusters, instances, alerts and advice
	trialHandlers struct{ *Server } // trials and their results
)

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, needs access.Role, p page) {
		mux.Handle(pattern, s.needing(needs, p))
	}
	handle("GET /{$}", access.View, s.now)
	runs, fleet, trials := runHandlers{s}, fleetHandlers{s}, trialHandlers{s}
	handle("GET /runs", access.View, runs.runs)
	handle("GET /runs/{run}", access.View, runs.run)
	handle("GET /runs/{run}/log", access.View, runs.journal)
	handle("GET /runs/{run}/evidence", access.View, runs.evidence)
	handle("GET /runs/{run}/approve", access.View, runs.approval)
	handle("POST /runs/{run}/approve", access.Approve, runs.answer("approve"))
	handle("POST /runs/{run}/reject", access.Approve, runs.answer("reject"))
	handle("POST /runs/{run}/resume", access.Operate, runs.resume)
	handle("POST /runs/{run}/cancel", access.Operate, runs.cancel)
	handle("POST /runs/{run}/rerun", access.Operate, runs.rerun)
	handle("GET /runbooks", access.View, runs.runbooks)
	handle("GET /runbooks/{family}/{name}", access.View, runs.book)
	handle("POST /plan", access.Operate, runs.plan)
	handle("POST /runs", access.Operate, runs.begin)
	handle("GET /fleet", access.View, fleet.fleet)
	handle("GET /fleet/{cluster}/{node}", access.View, fleet.instance)
	handle("GET /alerts", access.View, fleet.alerts)
	handle("GET /alerts/{alert}", access.View, fleet.alert)
	handle("GET /advice", access.View, fleet.advices)
	handle("GET /advice/{cluster}", access.View, fleet.oneAdvice)
	handle("POST /advice/{cluster}", access.Operate, fleet.look)
	handle("GET /trials", access.View, trials.trials)
	handle("POST /trials", access.Operate, trials.beginTrial)
	handle("POST /trials/stop", access.Operate, trials.stopTrial)
	handle("GET /trials/live", access.View, trials.liveTrial)
	handle("GET /trials/compare", access.View, trials.compare)
	handle("GET /trials/result/{name...}", access.View, trials.result)
	if d := s.Watch.Prometheus; d != nil {
		answer := func(w http.ResponseWriter, r *http.Request) error { d.ServeHTTP(w, r); return nil }
		for _, pattern := range []string{"GET /api/v1/", "POST /api/v1/", "GET /metrics"} { // Grafana asks by POST too, and changes nothing
			handle(pattern, access.View, answer)
		}
	}
	if d := s.Watch.Marks; d != nil {
		handle("POST /api/marks", access.Operate, func(w http.ResponseWriter, r *http.Request) error { d.ServeHTTP(w, r); return nil })
	}
	handle("GET /live", access.View, s.stream)
	handle("GET /enter", access.Nobody, s.entrance)
	handle("POST /enter", access.Nobody, s.enter)
	handle("POST /enter/code", access.Approve, s.code)
	handle("POST /leave", access.View, s.leave)
	handle("POST /preferences", access.Nobody, s.prefer)
	handle("GET /assets/{file}", access.Nobody, s.asset)
	handle("/", access.View, func(http.ResponseWriter, *http.Request) error { return errNoPage })
	return mux
}

// needing shows a page to those who have a role.
func (s *Server) needing(role access.Role, p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		person := access.PersonOf(r.Context())
		err := error(&roleError{role, person})
		if person.May(role) {
			err = p(w, r)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			s.fail(w, r, err)
		}
	})
}

// open are the paths that need no person.
func open(path string) bool {
	return path == "/enter" || path == "/preferences" || len(path) > len("/assets/") && path[:len("/assets/")] == "/assets/"
}

// as is the service in the name of who asks.
func (s *Server) as(r *http.Request) *execute.Service {
	one := *s.Runs
	p := access.PersonOf(r.Context())
	one.User, one.Known = p.Name, "login of the web page, by "+string(p.Method)
	if p.Method == access.ByToken { // who holds it is nobody in particular
		one.Known = ""
	}
	return &one
}
