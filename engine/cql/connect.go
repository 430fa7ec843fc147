package cql

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

const (
	// requestTimeout is when the driver gives an answer up. It is longer than the servers' own timeouts, which say more.
	requestTimeout = 12 * time.Second
	// reconnectInterval is how often nodes that were lost are tried again.
	reconnectInterval = 250 * time.Millisecond
)

// resolved is the target with its hosts by address: the driver tells nodes apart, and itself refused ones, by these alone.
func (t target) resolved(ctx context.Context) (target, error) {
	var all []string
	var unknown error
	for _, named := range t.Addresses {
		host, port, err := net.SplitHostPort(named)
		if err != nil {
			return target{}, unreachable(named, err)
		}
		found, err := net.DefaultResolver.LookupHost(ctx, host)
		if err != nil {
			unknown = errors.Join(unknown, unreachable(named, err))
			continue
		}
		for _, address := range preferred(found) {
			all = append(all, net.JoinHostPort(address, port))
		}
	}
	if ctx.Err() != nil {
		return target{}, engine.Ended(ctx, true)
	}
	if len(all) == 0 {
		return target{}, unknown
	}
	t.Addresses = all
	return t, nil
}

// preferred are the addresses of version 4, if there are any, as the driver prefers them.
func preferred(found []string) []string {
	short := slices.DeleteFunc(slices.Clone(found), func(address string) bool { return strings.Contains(address, ":") })
	if len(short) > 0 {
		return short
	}
	return found
}

// cluster is what a driver is told. What would falsify a measurement is off: writes that wait 200 µs for company, retries
// that nobody sees, pages fetched ahead.
func (t target) cluster() *gocql.ClusterConfig {
	c := gocql.NewCluster(t.Addresses...)
	if _, port, err := net.SplitHostPort(t.Addresses[0]); err == nil {
		c.Port, _ = strconv.Atoi(port) // of a node that does not say its own, as none does of itself
	}
	c.WriteCoalesceWaitTime = 0
	c.RetryPolicy = nil
	c.NextPagePrefetch = 0
	c.ConnectTimeout, c.Timeout, c.WriteTimeout = t.Timeout, requestTimeout, requestTimeout
	c.Keyspace = t.Namespace
	c.NumConns = t.connections
	c.Consistency, c.SerialConsistency = t.consistency, t.serial
	// Hosts that are not looked up get an identity of the driver's, until its connection breaks and they get their own; as it takes
	// away the other one, it may take the address from both. Of one host its own is known from the beginning. Of several the addresses
	// that they know may be others than those that were named.
	c.DisableInitialHostLookup = !t.discover && len(t.Addresses) > 1
	c.ReconnectInterval = reconnectInterval
	c.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: reconnectInterval}
	if t.User != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: t.User, Password: string(t.Password)}
	}
	return c
}

// spread makes a driver send every statement to a node that has its data, of the target's data centre. Without discovery
// it goes to the named nodes in turn. Nodes that hang are asked last.
func (t target) spread(c *gocql.ClusterConfig) *awake {
	if !t.discover {
		c.HostFilter = only(t.Addresses)
		ignoreRing(c)
		a := newAwake(gocql.RoundRobinHostPolicy())
		c.PoolConfig.HostSelectionPolicy = a
		return a
	}
	c.HostFilter = gocql.DataCenterHostFilter(t.dc)
	a := newAwake(gocql.TokenAwareHostPolicy(gocql.DCAwareRoundRobinPolicy(t.dc), gocql.ShuffleReplicas()))
	c.PoolConfig.HostSelectionPolicy = a
	return a
}

// ignoreRing has a driver learn nothing of the ring. With a cache of the schema it would wait ten seconds, before it lets anybody in,
// for all members to agree about it, which one that is down cannot. Nor does one that talks to one node alone wait a minute for that
// after each change of it.
func ignoreRing(c *gocql.ClusterConfig) {
	if len(c.Hosts) == 1 {
		c.MaxWaitSchemaAgreement = time.Second
	}
	c.Metadata.CacheMode = gocql.Disabled
	c.Events.DisableNodeStatusEvents, c.Events.DisableTopologyEvents, c.Events.DisableSchemaEvents = true, true, true
}

// connect opens the driver's session. The driver takes no context, and wraps the cause of a failure in text; so both
// are brought to it through what it calls.
func connect(ctx context.Context, t target, c *gocql.ClusterConfig) (*gocql.Session, error) {
	d := &dialer{opening: ctx}
	c.Dialer, c.ConnectObserver = d, d
	defer d.opened()
	s, err := c.CreateSession()
	switch {
	case ctx.Err() != nil:
		if err == nil {
			shut(s)
		}
		return nil, engine.Ended(ctx, true)
	case err != nil:
		return nil, d.why(t, err)
	}
	return s, nil
}

// dialer connects for the driver, and remembers why it could not.
type dialer struct {
	net.Dialer
	mu      sync.Mutex
	opening context.Context // ends what is under way while the session is opened; nil afterwards
	stops   []func() bool
	last    error
	address string // of the last failure
}

func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	opening := d.opening
	d.mu.Unlock()
	if opening == nil {
		conn, err := d.Dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return newWire(conn), nil
	}
	conn, err := d.Dialer.DialContext(opening, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.stops = append(d.stops, context.AfterFunc(opening, func() { _ = conn.Close() }))
	d.mu.Unlock()
	return newWire(conn), nil
}

// ObserveConnect keeps the last failure.
func (d *dialer) ObserveConnect(o gocql.ObservedConnect) {
	if o.Err != nil {
		d.mu.Lock()
		d.last, d.address = o.Err, o.Host.ConnectAddressAndPort()
		d.mu.Unlock()
	}
}

func (d *dialer) opened() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opening = nil
	for _, stop := range d.stops {
		stop()
	}
}

// why is the error of a session that could not be opened.
func (d *dialer) why(t target, err error) *engine.Error {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := unreachable(t.Addresses[0], err)
	if d.last != nil && !errors.Is(err, gocql.ErrNoConnectionsStarted) {
		e = unreachable(d.address, d.last)
	}
	_ = t.Advised(e) // which it is given
	return e
}
