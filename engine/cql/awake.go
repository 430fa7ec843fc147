package cql

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// When a coordinator counts as hanging: it owes answers, and has given none for a second; sooner if it owes many.
// A server that hangs keeps its connections open, and the others take ten to twenty seconds to call it down: without this
// a load's connections would all come to wait for it. Other drivers do so by default too.
const (
	tooLong     = time.Second
	manyOwed    = 10
	tooLongMany = 200 * time.Millisecond
	// tryAgain is how often one request goes to a coordinator that hangs, to see whether it still does.
	tryAgain = time.Second
)

// awake is a policy that asks the coordinators that hang last.
type awake struct {
	gocql.HostSelectionPolicy
	now   func() time.Duration
	hosts sync.Map // *coordinator by host id
}

// coordinator is what a node owes us.
type coordinator struct {
	address string
	owed    atomic.Int64 // requests without an answer
	since   atomic.Int64 // when the first request was sent since it last answered; 0: it owes nothing since then
	tried   atomic.Int64 // when it was last tried although it hangs
}

func newAwake(policy gocql.HostSelectionPolicy) *awake {
	began := time.Now()
	return &awake{HostSelectionPolicy: policy, now: func() time.Duration { return time.Since(began) + 1 }}
}

func (a *awake) of(host *gocql.HostInfo) *coordinator {
	if c, ok := a.hosts.Load(host.HostID()); ok {
		return c.(*coordinator)
	}
	c, _ := a.hosts.LoadOrStore(host.HostID(), &coordinator{address: host.ConnectAddressAndPort()})
	return c.(*coordinator)
}

// AddHosts passes all on at once: a token-aware policy then works out the replicas of each token only once.
func (a *awake) AddHosts(hosts []*gocql.HostInfo) {
	if all, ok := a.HostSelectionPolicy.(interface{ AddHosts(hosts []*gocql.HostInfo) }); ok {
		all.AddHosts(hosts)
		return
	}
	for _, host := range hosts {
		a.AddHost(host)
	}
}

// RemoveHost forgets a node that left.
func (a *awake) RemoveHost(host *gocql.HostInfo) {
	a.hosts.Delete(host.HostID())
	a.HostSelectionPolicy.RemoveHost(host)
}

// Pick gives the nodes in the policy's order, those that hang at its end.
func (a *awake) Pick(statement gocql.ExecutableStatement) gocql.NextHost {
	p := &picked{awake: a, next: a.HostSelectionPolicy.Pick(statement)}
	if asked, ok := statement.(interface{ Context() context.Context }); ok {
		p.ctx = asked.Context()
	}
	return p.host
}

// hangs tells whether a node is to be left alone now.
func (c *coordinator) hangs(now time.Duration) bool {
	if !c.silent(now) {
		return false
	}
	tried := c.tried.Load()
	return now-time.Duration(tried) < tryAgain || !c.tried.CompareAndSwap(tried, int64(now))
}

func (c *coordinator) silent(now time.Duration) bool {
	since := time.Duration(c.since.Load())
	long := now - since
	return since > 0 && (long > tooLong || long > tooLongMany && c.owed.Load() >= manyOwed)
}

// picked goes through the nodes for one request.
type picked struct {
	awake *awake
	next  gocql.NextHost
	ctx   context.Context // the request's; nil: not known
	late  []gocql.SelectedHost
	asked asked // the node that was given last
}

// asked is a node that is asked, until the driver marks how that ended.
type asked struct {
	gocql.SelectedHost
	of     *coordinator // nil: it was marked
	picked *picked
}

func (p *picked) host() gocql.SelectedHost {
	p.asked.drop()
	now := p.awake.now()
	for host := p.next(); host != nil; host = p.next() {
		if c := p.awake.of(host.Info()); !c.hangs(now) {
			return p.ask(host, c, now)
		}
		p.late = append(p.late, host)
	}
	if len(p.late) == 0 {
		return nil
	}
	host := p.late[0]
	p.late = slices.Delete(p.late, 0, 1)
	return p.ask(host, p.awake.of(host.Info()), now)
}

func (p *picked) ask(host gocql.SelectedHost, c *coordinator, now time.Duration) gocql.SelectedHost {
	c.owed.Add(1)
	c.since.CompareAndSwap(0, int64(now))
	p.asked = asked{host, c, p}
	return &p.asked
}

// drop forgets a node that was given and, because there was no connection to it, not asked.
func (s *asked) drop() {
	if s.of != nil {
		if s.of.owed.Add(-1) == 0 {
			s.of.since.Store(0)
		}
		s.of = nil
	}
}

// Mark is told how a request ended. The driver tells no error where the request's own time was over: that is no answer.
func (s *asked) Mark(err error) {
	s.SelectedHost.Mark(err)
	if s.of == nil {
		return
	}
	s.of.owed.Add(-1)
	if answered(err) && (s.picked.ctx == nil || s.picked.ctx.Err() == nil) {
		s.of.since.Store(0)
	}
	s.of = nil
}

// answered tells whether a node said something.
func answered(err error) bool {
	return err == nil || classify(err).Code != ""
}

// hanging lists the addresses of the nodes that are left alone because they hang.
func (a *awake) hanging() []string {
	var all []string
	now := a.now()
	a.hosts.Range(func(_, c any) bool {
		if c := c.(*coordinator); c.silent(now) && c.owed.Load() > 0 {
			all = append(all, c.address)
		}
		return true
	})
	slices.Sort(all)
	return all
}
