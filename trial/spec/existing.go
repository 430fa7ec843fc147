package spec

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"plimsoll/cluster"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/inventory"
)

// ExistingCluster is a cluster that is there before the trial and stays after it. The trial puts it under load and measures it; it makes,
// restarts, restores and changes nothing there but what the workload's own operations do, and the runbooks of its timeline.
type ExistingCluster struct {
	Name        string // as the trial calls it
	Environment string // lab, staging or production
	Engine      engine.Engine
	Address     engine.Target     // without its password
	Listed      bool              // it stands in the inventory, so that runbooks can change it
	Password    *inventory.Secret // where that is found; nil: nowhere
}

const (
	ExistingNode  = "target" // under which its signals stand
	targetExample = "mysql://user@host:3306/database, http://host:8080/, or the name of a cluster in " + inventory.File
)

// Production names the cluster in production that the trial puts under load, "" if there is none. A person must agree to it.
func (t *Trial) Production() string {
	if t.Existing == nil || t.Existing.Environment != cluster.Production {
		return ""
	}
	return t.Existing.Name
}

// findExisting finds the cluster that a trial names, and refuses what would need one of the trial's own.
func (t *Trial) findExisting(parts Parts) error {
	n := t.Document.Get("cluster")
	at := n.Get("target")
	if at == nil {
		if t.Cluster.Engine == "" {
			return n.Errorf(`"engine" is missing`).WithHint("or target: an existing cluster")
		}
		for _, key := range []string{"environment", "password"} {
			if given := n.Get(key); given != nil {
				return given.Errorf("%s belongs to a target; a lab cluster is created for the trial", key)
			}
		}
		return nil
	}
	var ps document.Problems
	for _, e := range n.Entries {
		if !slices.Contains([]string{"target", "environment", "password"}, e.Key) {
			ps.Add(e.At, e.At.Errorf("%s belongs to a cluster that is created for the trial; a target keeps its own configuration", e.Key))
		}
	}
	found, err := parts.find(t.Cluster, n)
	ps.Add(at, err)
	ps.Add(n, t.keepOff(found, parts))
	t.Existing = found
	return ps.Err()
}

func (p Parts) find(c Cluster, n *document.Node) (*ExistingCluster, error) {
	at := n.Get("target")
	if !strings.Contains(c.Target, "://") {
		return p.findByName(c, n)
	}
	target, err := engine.ParseTarget(c.Target)
	if err != nil {
		return nil, at.Errorf("%v, expected %s", err, targetExample)
	}
	if target.Password != "" {
		return nil, at.Errorf("the target contains a password, which would be stored with the result").WithHint("password: {env: NAME}, beside the target")
	}
	e, known := p.Engines[target.Engine]
	if !known {
		name := *at
		name.Text = target.Engine
		return nil, document.UnknownName(&name, "engine", document.SortedKeys(p.Engines))
	}
	if c.Password != nil {
		if err := c.Password.Check(n.Get("password")); err != nil {
			return nil, err
		}
	}
	found := &ExistingCluster{Name: c.Target, Environment: c.Environment, Engine: e, Address: target, Password: c.Password}
	switch {
	case found.Environment == "" && !onlyLoopback(target.Addresses):
		return nil, n.Errorf(`"environment" is missing: %s`, strings.Join(cluster.Environments(), ", "))
	case found.Environment == "":
		found.Environment = "lab"
	case !slices.Contains(cluster.Environments(), found.Environment):
		return nil, document.UnknownName(n.Get("environment"), "environment", cluster.Environments())
	}
	return found, nil
}

// findByName looks the target up in the inventory.
func (p Parts) findByName(c Cluster, n *document.Node) (*ExistingCluster, error) {
	at := n.Get("target")
	for _, key := range []string{"environment", "password"} {
		if given := n.Get(key); given != nil {
			return nil, given.Errorf("%s of a cluster that %s lists must be given there", key, inventory.File)
		}
	}
	inv, err := p.Inventory()
	if err != nil {
		return nil, err
	}
	cluster, known := inv.Clusters[c.Target]
	if !known {
		return nil, document.UnknownName(at, "cluster", document.SortedKeys(inv.Clusters)).WithHint("%s", targetExample)
	}
	e, known := p.Engines[cluster.Engine]
	if !known {
		return nil, at.Errorf("cluster %s has the unknown engine %s", c.Target, cluster.Engine)
	}
	return &ExistingCluster{Name: c.Target, Environment: cluster.Environment, Engine: e, Listed: true, Address: cluster.Whole(""), Password: cluster.Password}, nil
}

func onlyLoopback(addresses []string) bool {
	for _, a := range addresses {
		host, _, err := net.SplitHostPort(a)
		if err != nil {
			host = a
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if host != "localhost" && !strings.HasPrefix(host, "/") && (err != nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// keepOff refuses what a trial may do only to a cluster of its own.
func (t *Trial) keepOff(e *ExistingCluster, parts Parts) error {
	const own = "a cluster that is created for the trial (engine, in place of target)"
	var ps document.Problems
	if t.Phases.Restore == RestoreEach && t.Document.Get("phases").Get("restore") != nil {
		ps.Add(t.Document, t.Document.Get("phases").Get("restore").Errorf("restore: each needs %s", own))
	}
	for _, step := range t.Timeline {
		if step.Call == nil {
			continue
		}
		_, ofLab := parts.Fault(step.Call.Change)
		switch call := step.Call; {
		case ofLab || e == nil:
			ps.Add(call.At, call.At.Errorf("%s needs %s", call.Name(), own))
		case !e.Listed:
			ps.Add(call.At, call.At.Errorf("%s needs a cluster that %s lists, or %s", call.Name(), inventory.File, own))
		case e.Environment == cluster.Production:
			ps.Add(call.At, call.At.Errorf("%s would change %s, which is in production, for a trial", call.Name(), e.Name).
				WithHint("%s", parts.onCluster(call, e.Name)))
		}
	}
	for _, f := range t.Compare.Factors {
		if strings.HasPrefix(f.Name, "config.") {
			ps.Add(f.At, f.At.Errorf("%s needs %s", f.Name, own))
		}
	}
	variants := t.Document.Get("compare").Get("variant")
	for _, v := range t.Compare.Variants {
		given := variants.Get(v.Name)
		if given == nil {
			continue
		}
		for _, entry := range given.Entries {
			if entry.Key != "load" {
				ps.Add(entry.At, entry.At.Errorf("%s needs %s", entry.Key, own))
			}
		}
	}
	if e != nil && e.Environment == cluster.Production && t.asksForShare() {
		at := t.Document.Get("load").Get("rate")
		if at == nil {
			at = t.Document.Get("load")
		}
		ps.Add(at, at.Errorf("to find its maximum, a share of max would drive %s to its limit; in production give the rate as a number", e.Name))
	}
	return ps.Err()
}

// asksForShare tells whether any cell's rate is a share of the maximum.
func (t *Trial) asksForShare() bool {
	is := func(n *document.Node) bool { return n != nil && ShareOfMax.MatchString(n.Text) }
	if t.Load.Rate.Share > 0 {
		return true
	}
	for _, f := range t.Compare.Factors {
		if f.Name == "rate" && slices.ContainsFunc(f.Levels, is) {
			return true
		}
	}
	return slices.ContainsFunc(t.Compare.Variants, func(v Variant) bool { return is(v.Load.Get("rate")) })
}

// engineOf is the engine of a cell's cluster.
func (t *Trial) engineOf(parts Parts, c Cluster) (engine.Engine, error) {
	if t.Existing != nil {
		return t.Existing.Engine, nil
	}
	product, err := parts.product(t.Document, c)
	return product.Engine, err
}
