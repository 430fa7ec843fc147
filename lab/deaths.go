package lab

import (
	"context"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Death is the end of a server that nobody asked for.
type Death struct {
	Node  string
	At    time.Time // when it was noticed, which is at once
	Cause error     // what its log says; nil when it ended without a word, as one that the kernel kills for its memory does
	Log   []string  // the last lines of its log
}

// deaths are told by those who watch over the servers of a cluster.
type deaths struct {
	told     chan Death
	watchers sync.WaitGroup
}

func (d *deaths) tell(death Death) {
	select {
	case d.told <- death:
	default: // nobody listens
	}
}

// watch takes the server's process and watches over it until it is forgotten.
func (m *member) watch(ctx context.Context, p infra.Process) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.process.take(p, cancel)
	node := m.Node
	m.deaths.watchers.Go(func() {
		defer cancel()
		if err := p.Wait(ctx); err != nil && (ctx.Err() != nil || !m.host.vanished(ctx)) {
			return // forgotten
		}
		at := m.deps.Now()
		if m.process.lose(p) {
			m.report(context.WithoutCancel(ctx), node, at)
		}
	})
}

func (m *member) report(ctx context.Context, n engine.Node, at time.Time) {
	on := m.host.machine()
	d := Death{Node: n.Name, At: at, Cause: m.launcher.Diagnose(ctx, on, n)}
	if tail, err := infra.Tail(ctx, on, n.Log(), 4<<10); err == nil {
		d.Log = strings.Split(strings.TrimRight(string(tail), "\n"), "\n")
	}
	m.deaths.tell(d)
}
