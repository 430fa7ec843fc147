package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"plimsoll/engine"
)

// primary is which of a target's servers takes writes, as far as is known: after a switchover or a failover it is another.
// A target of one address is taken as it is.
type primary struct {
	target target
	known  atomic.Int32  // index of its address
	turn   chan struct{} // held by the one who looks for it anew
}

func newPrimary(t target) *primary {
	return &primary{target: t, turn: make(chan struct{}, 1)}
}

// patience is how long the server that was the primary may take to let us in, before the others are asked too.
const patience = 300 * time.Millisecond

// session opens a session on the primary. Of several servers it is the first that lets us in and is not read-only; while there
// is none, the error says what is wrong with each.
func (p *primary) session(ctx context.Context) (*session, error) {
	if len(p.target.Addresses) == 1 {
		return p.target.connect(ctx, p.target.Addresses[0])
	}
	before := p.known.Load()
	if s, err := p.patient(ctx, int(before)); err == nil {
		return s, nil
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, engine.Ended(ctx, true)
	}
	defer func() { <-p.turn }()
	if now := p.known.Load(); now != before { // somebody has found it meanwhile
		if s, err := p.patient(ctx, int(now)); err == nil {
			return s, nil
		}
	}
	return p.look(ctx)
}

func (p *primary) patient(ctx context.Context, index int) (*session, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.writable(limited, index)
}

// writable opens a session on a server and makes sure that it takes writes.
func (p *primary) writable(ctx context.Context, index int) (*session, error) {
	s, err := p.target.connect(ctx, p.target.Addresses[index])
	if err != nil {
		return nil, err
	}
	r := engine.Result{Keep: true}
	// An Aurora reader is read-only by innodb_read_only alone; super_read_only brings read_only with it.
	err = s.Exec(ctx, "SELECT CONCAT(@@global.read_only, ' ', @@global.innodb_read_only)", &r)
	if err == nil && (r.Rows != 1 || !takesWrites(string(r.At(0, 0).Data))) {
		err = errReadOnly
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.roams = true
	return s, nil
}

var errReadOnly = errors.New("read-only")

// takesWrites reads both variables: 0 or OFF each.
func takesWrites(shown string) bool {
	for _, value := range strings.Fields(shown) {
		if value != "0" && !strings.EqualFold(value, "OFF") {
			return false
		}
	}
	return shown != ""
}

// look asks all servers at once and takes the first that takes writes.
func (p *primary) look(ctx context.Context) (*session, error) {
	type answer struct {
		index   int
		session *session
		err     error
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	answers := make(chan answer, len(p.target.Addresses))
	for i := range p.target.Addresses {
		go func() {
			s, err := p.writable(asking, i)
			answers <- answer{i, s, err}
		}()
	}
	var found *session
	wrong := make([]string, len(p.target.Addresses))
	for range p.target.Addresses {
		a := <-answers
		switch {
		case a.err == nil && found == nil:
			found = a.session
			p.known.Store(int32(a.index))
			stop() // the others are not waited for
		case a.err == nil:
			_ = a.session.Close() // it was only asked
		default:
			wrong[a.index] = p.target.Addresses[a.index] + ": " + a.err.Error()
		}
	}
	switch {
	case found != nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, engine.Ended(ctx, true)
	}
	return nil, &engine.Error{
		Kind: engine.Unavailable, Lost: true, Text: fmt.Sprintf("none of %d servers accepts writes: %s", len(wrong), strings.Join(wrong, "; ")),
	}
}

// demoted tells whether an error says that a server which was the primary is none any more.
func demoted(e *engine.Error) bool {
	return e.Kind == engine.ReadOnly && (e.Code == "1290" || e.Code == "1836")
}
