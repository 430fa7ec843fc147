package enginetest

import (
	"context"
	"net"
	"testing"
	"time"

	"plimsoll/engine"
)

func testErrorClasses(t *testing.T, h Harness) {
	s := h.table(t)
	class(t, "a table that is not there", s.Exec(t.Context(), h.Texts.Missing, nil), engine.Missing)
	_, err := s.Prepare(t.Context(), h.Texts.Missing)
	if err == nil { // prepared without a look at the tables
		err = prepare(t, s, h.Texts.Missing).Exec(t.Context(), nil, nil)
	}
	class(t, "a prepared table that is not there", err, engine.Missing)
	if h.Texts.Duplicate != "" {
		must(t, prepare(t, s, h.Texts.Insert).Exec(t.Context(), row(1), nil))
		class(t, "a duplicate", s.Exec(t.Context(), h.Texts.Duplicate, nil), engine.Duplicate)
	}
	must(t, s.Exec(t.Context(), h.Texts.All, nil))
}

// never is what a busy machine does not take for something that happens at once.
const never = time.Minute

func testRefusedConnections(t *testing.T, h Harness) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, closed.Close())
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = mute.Close() }()

	for _, c := range []struct {
		name   string
		change func(*engine.Target)
		want   engine.Class
	}{
		{"a wrong password", func(t *engine.Target) { t.Password = "wrong" }, engine.Denied},
		{"nothing listens", func(t *engine.Target) { t.Addresses = []string{closed.Addr().String()} }, engine.Unavailable},
		{"a name that nobody knows", func(t *engine.Target) { t.Addresses = []string{"no-such-host.invalid:1"} }, engine.Unavailable},
		{"nothing answers", func(t *engine.Target) {
			t.Addresses, t.Timeout = []string{mute.Addr().String()}, 200*time.Millisecond
		}, engine.Unavailable},
	} {
		target := h.Target
		c.change(&target)
		start := time.Now()
		_, err := h.Engine.Open(t.Context(), target)
		class(t, c.name, err, c.want)
		if !lost(err) {
			t.Errorf("%s: %v does not say that there is no connection", c.name, err)
		}
		if took := time.Since(start); took > never {
			t.Errorf("%s: it took %v to say so", c.name, took)
		}
	}
}

func testInterrupt(t *testing.T, h Harness) {
	s, hung := hang(t, t.Context(), h)
	s.Interrupt()
	broken(t, h, s, hung)
}

func testContextEnds(t *testing.T, h Harness) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, hung := hang(t, ctx, h)
	cancel()
	broken(t, h, s, hung)

	// A context that ended before the call costs no connection.
	other := session(t, h.Database)
	if err := other.Exec(ctx, h.Texts.All, nil); err == nil {
		t.Error("a text ran under a context that had ended")
	}
	must(t, other.Exec(t.Context(), h.Texts.All, nil))
}

// hang makes a call that gets no answer, and returns when the request has left.
func hang(t *testing.T, ctx context.Context, h Harness) (engine.Session, <-chan error) {
	t.Helper()
	h.table(t)
	p := between(t, h.Target.Addresses[0])
	db := h.open(t, func(t *engine.Target) { t.Addresses = []string{p.address()} })
	s := session(t, db)
	read := prepare(t, s, h.Texts.Select)
	must(t, read.Exec(ctx, []engine.Value{engine.Int(1)}, nil))
	asked := p.freeze()
	ended := make(chan error, 1)
	go func() { ended <- read.Exec(ctx, []engine.Value{engine.Int(1)}, nil) }()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatalf("the call did not hang: %v", err)
	}
	return s, ended
}

// broken checks that a hung call ends, and that its session says that it is of no use any more.
func broken(t *testing.T, h Harness, s engine.Session, hung <-chan error) {
	t.Helper()
	select {
	case err := <-hung:
		if !lost(err) {
			t.Errorf("broken off: %v does not say that the connection is lost", err)
		}
	case <-time.After(never):
		t.Fatalf("the call still hangs after %v", never)
	}
	if err := s.Exec(t.Context(), h.Texts.All, nil); !lost(err) {
		t.Errorf("the next call: %v does not say that the connection is lost", err)
	}
}

// A connection that breaks is reported as that, and a database whose own broke makes a new one.
func testConnectionLost(t *testing.T, h Harness) {
	h.table(t)
	p := between(t, h.Target.Addresses[0])
	db := h.open(t, func(t *engine.Target) { t.Addresses = []string{p.address()} })
	s := session(t, db)
	must(t, s.Exec(t.Context(), h.Texts.All, nil))
	p.cut()
	err := s.Exec(t.Context(), h.Texts.All, nil)
	class(t, "a connection that was cut", err, engine.Unavailable)
	if !lost(err) {
		t.Errorf("%v does not say that the connection is lost", err)
	}
	inTime(t, "a new session", func() error {
		s, err := db.Session(t.Context())
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Exec(t.Context(), h.Texts.All, nil)
	})
	inTime(t, "facts", func() error {
		_, err := db.Facts(t.Context())
		return err
	})
}

// A server is reached by the name of its host, and of another port than it knows of.
func testHostName(t *testing.T, h Harness) {
	h.table(t)
	_, port, err := net.SplitHostPort(between(t, h.Target.Addresses[0]).address())
	must(t, err)
	db := h.open(t, func(t *engine.Target) { t.Addresses = []string{net.JoinHostPort("localhost", port)} })
	must(t, session(t, db).Exec(t.Context(), h.Texts.All, nil))
	_, err = db.Facts(t.Context())
	must(t, err)
}

// inTime does what may fail for a while because a connection was lost: until that is noticed, and a new one made.
func inTime(t *testing.T, what string, do func() error) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for limit := time.Now().Add(never); ; <-again.C {
		err := do()
		if err == nil {
			return
		}
		if !lost(err) || time.Now().After(limit) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
