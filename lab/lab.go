// Package lab makes clusters of real database servers on a machine, works them as an operator would, and takes them
// away without a trace.
//
// All of a cluster stands in one folder, written before anything is started, and every process of it carries that
// folder's path as its mark. So Down needs nothing but the name, whatever became of the Plimsoll that made the cluster.
package lab

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/disk/pace"
	"plimsoll/internal/document"
)

// Deps is what a lab works with.
type Deps struct {
	Machine   infra.Machine
	Launchers []engine.Launcher
	Home      string           // folder on the machine that keeps the clusters; see Home
	Cache     string           // folder on the machine for fetched servers; see Cache
	Network   netip.Prefix     // IPv4, for the nodes' addresses; zero: 127.20.0.0/16
	Say       func(string)     // is told what is done; may be nil
	Now       func() time.Time // nil: time.Now
	Patience  time.Duration    // how long a server may take to serve, or to stop; 0: 10 minutes
	Layer     []string         // program on the machine and first arguments that run forgetful.Run; for forgetful clusters
	Monitor   []string         // program on the machine and first arguments that run uml.Run; for clusters on machines of their own
}

// Spec is a cluster to be made.
type Spec struct {
	Name    string // lower-case letters, digits and hyphens
	Product string // mariadb, mysql
	Version string // 11.4, or empty: what is on PATH, else the preferred release
	Nodes   int    // 0: 1
	// Separate makes every node a server of its own, empty and writable, between which nothing is replicated: what an
	// external replica and a multi-source replica are built from.
	Separate bool
	Config   map[string]string
	Memory   int64 // bytes each node may use; 0: as its settings say
	Port     int   // 0: the usual one, or the next that is free
	// Forgetful lays a layer over the data of every node that can forget what was not synced, for Cluster.PowerFail. It
	// takes time at every write.
	Forgetful bool
	// Disk gives every node a disk with the limits of a cloud's volume; nil: as fast as this machine's. It takes the same layer.
	Disk *pace.Disk
	// Machines gives every node a machine with a kernel of its own; nil: servers are processes of this one.
	Machines *Machines
}

// ErrNoCluster says that there is no cluster of that name.
var ErrNoCluster = errors.New("no such cluster")

// InputError is the refusal of what was asked for: nothing has been made or started.
type InputError struct{ error }

func (e InputError) Unwrap() error { return e.error }

const maxNodes = 99

var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

func (d Deps) withDefaults() (Deps, error) {
	if !path.IsAbs(d.Home) || !path.IsAbs(d.Cache) {
		return d, fmt.Errorf("lab: the state folder %q and the cache folder %q must be absolute", d.Home, d.Cache)
	}
	if d.Network == (netip.Prefix{}) {
		d.Network = netip.PrefixFrom(netip.AddrFrom4([4]byte{127, 20}), 16)
	}
	if !d.Network.Addr().Is4() || d.Network.Bits() > 24 {
		return d, fmt.Errorf("lab: network %s is not an IPv4 network of at least 256 addresses", d.Network)
	}
	if d.Say == nil {
		d.Say = func(string) {}
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Patience == 0 {
		d.Patience = 10 * time.Minute
	}
	return d, nil
}

func (d Deps) say(format string, args ...any) { d.Say(fmt.Sprintf(format, args...)) }

// clusters is the folder in which each cluster has its own.
func (d Deps) clusters() string { return path.Join(d.Home, "lab") }

func (d Deps) folder(name string) string { return path.Join(d.clusters(), name) }

// launcher returns who can run a product.
func (d Deps) launcher(product string) (engine.Launcher, error) {
	known := map[string]bool{}
	for _, l := range d.Launchers {
		for _, r := range l.Releases() {
			if r.Product == product {
				return l, nil
			}
			known[r.Product] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	err := InputError{fmt.Errorf("a lab cannot run %q", product)}
	if near := document.Nearest(product, names); near != "" {
		return nil, hint.With(err, "did you mean "+near+"?")
	}
	return nil, hint.With(err, "it can run "+strings.Join(names, ", "))
}

func (s Spec) withDefaults() (Spec, error) {
	if s.Nodes == 0 {
		s.Nodes = 1
	}
	if err := checkName(s.Name); err != nil {
		return s, err
	}
	switch {
	case s.Nodes < 1 || s.Nodes > maxNodes:
		return s, InputError{fmt.Errorf("%d nodes, expected 1 to %d", s.Nodes, maxNodes)}
	case s.Port < 0 || s.Port > 65535:
		return s, InputError{fmt.Errorf("port %d, expected 1 to 65535", s.Port)}
	case s.Memory < 0:
		return s, InputError{fmt.Errorf("%d bytes of memory for a node", s.Memory)}
	case s.Machines != nil && s.Forgetful:
		return s, hint.With(InputError{errors.New("forgetful: true for a cluster on machines of its own")}, "kill a machine instead (fault.kill-machine): that loses unsynced writes")
	}
	if s.Disk != nil {
		if s.Machines != nil {
			return s, hint.With(InputError{errors.New("disk: for servers on machines of their own")}, "such machines have volumes: machines: {volumes: {local: {size: 4G, kind: gp2}}}")
		}
		if err := s.Disk.Check(); err != nil {
			return s, InputError{err}
		}
	}
	if s.Machines != nil {
		machines, err := s.Machines.withDefaults()
		if err != nil {
			return s, InputError{err}
		}
		s.Machines = &machines
	}
	return s, nil
}

func checkName(name string) error {
	if !validName.MatchString(name) {
		return InputError{fmt.Errorf("cluster name %q, expected lower-case letters, digits and hyphens, at most 40", name)}
	}
	return nil
}
