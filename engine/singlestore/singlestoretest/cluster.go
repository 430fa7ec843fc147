package singlestoretest

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/engine"
)

// Spec is the cluster as a test begins with it.
type Spec struct {
	Copies     int           // redundancy level; 0: 1
	Paired     bool          // leaf_failover_fanout
	Leaves     int           // of each group
	Partitions int           // of each database
	Databases  []string      // none: db
	Pace       time.Duration // that each move of a rebalance takes
	Shown      int           // how often a move that runs is shown at least, before it ends
}

// Cluster is the model behind the stand-in. Its master aggregator is node 1 of the toolbox; its leaves follow.
type Cluster struct {
	Statements atomic.Int64 // prepared ones that were executed

	behind sync.WaitGroup // what goes on behind calls that were cut off

	mu        sync.Mutex
	spec      Spec
	leaves    []*leaf
	copies    []*copyOf
	nodes     []*node
	moves     []*move         // of the rebalance under way
	executing map[uint32]text // by connection
	lastID    int
	address   string
	calls     []string
	secrets   []string
	held      *hold  // what begins does not end until it is over
	failing   string // an action: the next move of it fails
}

type text = string

type leaf struct {
	host        string
	port, group int
	state       string
}

func (l *leaf) address() string { return net.JoinHostPort(l.host, strconv.Itoa(l.port)) }

// copyOf is a copy of a partition.
type copyOf struct {
	database string
	ordinal  int
	leaf     *leaf
	master   bool
	offline  bool
}

// node is what sdb-admin knows of a server.
type node struct {
	id, host string
	port     int
	role     string // Master, Leaf, Unknown
}

type move struct {
	database, action string
	ordinal, phase   int
	target           *leaf
	status           string
	began            time.Time
	shown            int // as running
	apply            func()
}

// Leaf is the address of the leaf of a number, from 1.
func Leaf(n int) string { return net.JoinHostPort("10.0.0.1", strconv.Itoa(3306+n)) }

// New starts a cluster, which ends with the test.
func New(t testing.TB, spec Spec) *Cluster {
	t.Helper()
	spec.Copies = max(spec.Copies, 1)
	if len(spec.Databases) == 0 {
		spec.Databases = []string{"db"}
	}
	c := &Cluster{spec: spec, executing: map[uint32]text{}}
	c.fill()
	c.address = listen(t, c)
	t.Cleanup(c.behind.Wait)
	return c
}

// fill makes the cluster as its spec says. The lock is held, or nobody knows of it yet.
func (c *Cluster) fill() {
	spec := c.spec
	c.leaves, c.copies, c.nodes, c.lastID = nil, nil, nil, 0
	c.make("10.0.0.1", 3306).role = "Master"
	for i := range spec.Leaves * spec.Copies {
		n := c.make("10.0.0.1", 3307+i)
		n.role = "Leaf"
		c.leaves = append(c.leaves, &leaf{host: n.host, port: n.port, group: 1 + i%spec.Copies, state: "online"})
	}
	for _, database := range spec.Databases {
		for ordinal := range spec.Partitions {
			for group := range spec.Copies {
				at := c.leaves[ordinal%spec.Leaves*spec.Copies+group]
				c.copies = append(c.copies, &copyOf{database: database, ordinal: ordinal, leaf: at, master: group == ordinal/spec.Leaves%spec.Copies})
			}
		}
	}
}

// Target is the master aggregator's.
func (c *Cluster) Target() engine.Target {
	return engine.Target{Engine: "singlestore", Addresses: []string{c.address}, Namespace: c.spec.Databases[0], User: User, Password: Password}
}

func (c *Cluster) make(host string, port int) *node {
	c.lastID++
	n := &node{id: fmt.Sprintf("%040X", 0xC0FFEE00+c.lastID), host: host, port: port, role: "Unknown"}
	c.nodes = append(c.nodes, n)
	return n
}

// SetLeaf gives a leaf a state: offline, online, …
func (c *Cluster) SetLeaf(address, state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.leaf(address); l != nil {
		l.state = state
	}
}

// SetPartition takes a partition's copies off line, or brings them back.
func (c *Cluster) SetPartition(database string, ordinal int, offline bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.copies {
		if p.database == database && p.ordinal == ordinal {
			p.offline = offline
		}
	}
}

func (c *Cluster) leaf(address string) *leaf {
	for _, l := range c.leaves {
		if l.address() == address {
			return l
		}
	}
	return nil
}

// pair is the other leaf of the same number in the other group.
func (c *Cluster) pair(of *leaf) *leaf {
	if c.spec.Copies < 2 {
		return nil
	}
	var same, other []*leaf
	for _, l := range c.leaves {
		if l.group == of.group {
			same = append(same, l)
		} else {
			other = append(other, l)
		}
	}
	if at := slices.Index(same, of); at < len(other) {
		return other[at]
	}
	return nil
}

// String is all that acting can change, but for what is under way.
func (c *Cluster) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, n := range c.nodes {
		lines = append(lines, fmt.Sprintf("node %s:%d %s", n.host, n.port, n.role))
	}
	for _, l := range c.leaves {
		lines = append(lines, fmt.Sprintf("leaf %s group %d %s", l.address(), l.group, l.state))
	}
	for _, p := range c.copies {
		lines = append(lines, fmt.Sprintf("copy %s:%d on %s master %v", p.database, p.ordinal, p.leaf.address(), p.master))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Fail makes the next move of an action fail, such as COPY PARTITION.
func (c *Cluster) Fail(action string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failing = action
}

// Reset brings the cluster back to its beginning, when nothing is under way any more.
func (c *Cluster) Reset(t testing.TB) {
	t.Helper()
	for {
		c.mu.Lock()
		if len(c.moves) == 0 {
			c.fill()
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// Calls are the arguments with which sdb-admin was called, in order, and the passwords that it found in its environment.
func (c *Cluster) Calls() (calls, secrets []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls), slices.Clone(c.secrets)
}
