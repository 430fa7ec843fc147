// Package inventory reads plimsoll.yaml: the clusters that exist, where they answer, and where their credentials are.
// It holds no secret, only where each is found.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/watch/storage"
)

// File is the name of the inventory; Locate says where it is looked for.
const File = "plimsoll.yaml"

// Inventory is the file as read and checked.
type Inventory struct {
	Clusters map[string]Cluster `yaml:"clusters" doc:"By name."`
	Machines map[string]Machine `yaml:"machines" doc:"Machines and how to reach them, by the names that nodes and loads use."`
	State    State              `yaml:"state" doc:"Where runs are kept."`

	// What holds for runbooks in production; read by them.
	Gate      *document.Node `yaml:"gate" doc:"The gate of runbooks that have none: {rehearsals: 3, max_age: 14d} or {none: REASON}. Default: they are refused in production."`
	Approvals *document.Node `yaml:"approvals" doc:"Who may approve a step in production: {by: other}, anyone except the person who began the run, or {by: anyone}; signers: FILE lists the ssh keys that sign approvals. Default {by: other}."`
}

// State says where runs are kept.
type State struct {
	Postgres *Secret `yaml:"postgres" doc:"Where to find the connection string of a Postgres that a team shares. Default: a SQLite file in the state folder."`
}

// Cluster is a target: it exists, and Plimsoll did not create it.
type Cluster struct {
	Engine      string            `yaml:"engine,required" doc:"mysql for MySQL and MariaDB, cql for Cassandra and ScyllaDB, singlestore; the product's name works too."`
	Product     string            `yaml:"-"` // as engine names it
	Environment string            `yaml:"environment,required" doc:"lab, staging or production; gates of runbooks apply to production."`
	Nodes       []Node            `yaml:"nodes,required" doc:"The nodes, in any order: Plimsoll asks them which one is the primary."`
	User        string            `yaml:"user,required" doc:"The user that Plimsoll logs in as."`
	Password    *Secret           `yaml:"password" doc:"Where to find the password. Default: no password."`
	Namespace   string            `yaml:"database" doc:"Database or keyspace."`
	Options     map[string]string `yaml:"options" doc:"Options of the engine's driver, such as tls: required."`
	Replication *Account          `yaml:"replication" doc:"The replication account, for nodes that do not replicate yet."`
	AWS         *AWS              `yaml:"aws" doc:"Where instances of RDS or EC2, or a cluster of Aurora, run. Plimsoll uses the credentials of the AWS command line; do not write any here."`

	Kubernetes *Kubernetes `yaml:"kubernetes" doc:"Where an operator of Kubernetes runs the cluster. Plimsoll reaches it with your own kubectl and its credentials; do not write any here."`

	machines map[string]Machine // of the inventory
}

// AWS says where at AWS a cluster runs.
type AWS struct {
	Region  string        `yaml:"region" doc:"The region, such as ap-northeast-2. Default: from the configuration of the AWS command line."`
	Profile string        `yaml:"profile" doc:"The profile of the AWS command line. Default: its default profile."`
	Aurora  string        `yaml:"aurora" doc:"The identifier of the Aurora cluster that this cluster is."`
	Every   time.Duration `yaml:"every" doc:"How long a step waits between two checks of an instance that it changes. AWS throttles whole accounts: longer where many are changed. Default: 10s."`
}

// Account is who logs in.
type Account struct {
	User     string  `yaml:"user,required" doc:"The user that Plimsoll logs in as."`
	Password *Secret `yaml:"password,required" doc:"Where to find the password."`
}

// Node is one server.
type Node struct {
	Name     string            `yaml:"name,required" doc:"The node's name in runbooks."`
	Address  string            `yaml:"address,required" doc:"host:port, or the path of a Unix socket."`
	Machine  string            `yaml:"machine" doc:"The machine it runs on, so that Plimsoll can run commands there: local for this machine, ssh:HOST, pod:NAMESPACE/POD, or one of machines."`
	Service  string            `yaml:"service" doc:"The systemd unit of its server on that machine, such as mariadb, so that Plimsoll can start and stop it."`
	Data     string            `yaml:"data" doc:"The folder on that machine that contains the data of a member of a ring. Before Plimsoll starts it again, its newest file tells for how long it was away."`
	Cores    int               `yaml:"cores,nonzero" doc:"How many processors it has, if the server does not show it. Alerts judge the load by them."`
	Volume   *storage.Volume   `yaml:"volume" doc:"The volume of its data, from which Plimsoll knows the IOPS limit and predicts the end of a burst."`
	Volumes  map[string]Volume `yaml:"volumes" doc:"Volumes of EC2 by the names that runbooks use, such as {network: {id: vol-…}}. Plimsoll finds others by their tags cluster, node and volume."`
	Instance string            `yaml:"instance" doc:"The identifier of its RDS instance."`
	Spare    bool              `yaml:"spare" doc:"The server is not part of the cluster yet, or no longer."`
}

// Secret says where a secret is found: one of the three.
type Secret struct {
	Env     string   `yaml:"env" doc:"The environment variable that holds it."`
	File    string   `yaml:"file" doc:"The file that holds it; the last line break is removed."`
	Command []string `yaml:"command" doc:"A program that prints it; the last line break is removed."`
}

var (
	validNode = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)
)

// Read reads an inventory. One that is not there is empty.
func Read(path string) (*Inventory, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Inventory{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the inventory: %w", err)
	}
	inv, err := Parse(path, data)
	if err == nil {
		inv.beside(filepath.Dir(path))
	}
	return inv, err
}

// Parse is Read of a text.
func Parse(name string, data []byte) (*Inventory, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	if err := document.OtherKind(root, "inventory"); err != nil {
		return nil, err
	}
	var inv Inventory
	if err := root.Decode(&inv); err != nil {
		return nil, err
	}
	var ps document.Problems
	for name, c := range inv.Clusters {
		c.Product = c.Engine
		if of := engine.Family(c.Engine); of != "" {
			c.Engine = of
		}
		inv.Clusters[name] = c
	}
	for _, name := range document.SortedKeys(inv.Machines) {
		inv.Machines[name].check(name, root.Get("machines").Get(name), &ps)
	}
	for _, name := range document.SortedKeys(inv.Clusters) {
		c := inv.Clusters[name]
		c.machines = inv.Machines
		inv.Clusters[name] = c
		c.check(name, root.Get("clusters").Get(name), &ps)
	}
	if s := inv.State.Postgres; s != nil {
		s.check(root.Get("state").Get("postgres"), &ps)
	}
	return &inv, ps.Err()
}

func (c Cluster) check(name string, n *document.Node, ps *document.Problems) {
	if !validName.MatchString(name) {
		ps.Add(n, n.Errorf("cluster name %q, expected lower-case letters, digits and hyphens, at most 40", name))
	}
	if engine.Family(c.Product) == "" {
		refusal := document.UnknownName(n.Get("engine"), "engine", engine.Products())
		if meant := engine.Meant(c.Product); meant != "" {
			refusal = refusal.WithHint("write engine: %s", meant)
		}
		ps.Add(n, refusal)
	}
	refuseEmpty(n.Get("user"), "the name of the account that Plimsoll logs in as", ps)
	if !slices.Contains(cluster.Environments(), c.Environment) {
		ps.Add(n, document.UnknownName(n.Get("environment"), "environment", cluster.Environments()))
	}
	if len(c.Nodes) == 0 {
		ps.Add(n, n.Get("nodes").Errorf("no nodes"))
	}
	if members := slices.ContainsFunc(c.Nodes, func(n Node) bool { return !n.Spare }); len(c.Nodes) > 0 && !members {
		ps.Add(n, n.Get("nodes").Errorf("only spare nodes"))
	}
	if c.Replication != nil {
		refuseEmpty(n.Get("replication").Get("user"), "the name of the account that replicates", ps)
		c.Replication.Password.check(n.Get("replication").Get("password"), ps)
	}
	seen, addresses := map[string]bool{}, map[string]string{}
	for i, node := range c.Nodes {
		at := n.Get("nodes").Items[i]
		if seen[node.Name] {
			ps.Add(at, at.Errorf("node %q is listed twice", node.Name))
		}
		seen[node.Name] = true
		if !validNode.MatchString(node.Name) {
			ps.Add(at, at.Get("name").Errorf("node name %q, expected letters, digits, dots, hyphens and underscores, at most 63", node.Name))
		}
		refuseEmpty(at.Get("address"), "host:port, or the path of a Unix socket", ps)
		if other := addresses[node.Address]; other != "" {
			ps.Add(at, at.Get("address").Errorf("node %s has the same address as node %s: they are one server", node.Name, other))
		}
		addresses[node.Address] = node.Name
		node.checkMachine(at, c.machines, ps)
		if node.Volume != nil {
			if err := node.Volume.Check(); err != nil {
				ps.Add(at, at.Get("volume").Errorf("%s", err))
			}
		}
	}
	c.checkEC2(n, ps)
	if c.Kubernetes != nil {
		c.Kubernetes.check(c.Engine, n.Get("kubernetes"), ps)
	}
	if c.Password != nil {
		c.Password.check(n.Get("password"), ps)
	}
}

// refuseEmpty refuses a text that is required and has nothing in it.
func refuseEmpty(n *document.Node, expected string, ps *document.Problems) {
	if n != nil && (n.Kind == document.Nothing || n.Kind == document.Scalar && strings.TrimSpace(n.Text) == "") {
		ps.Add(n, n.Errorf("nothing, expected %s", expected))
	}
}

// Check refuses a secret that is found nowhere, or in two places.
func (s Secret) Check(n *document.Node) error {
	var ps document.Problems
	s.check(n, &ps)
	return ps.Err()
}

func (s Secret) check(n *document.Node, ps *document.Problems) {
	given := 0
	for _, is := range []bool{s.Env != "", s.File != "", len(s.Command) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		ps.Add(n, n.Errorf("%d sources for a secret, expected one of env, file or command", given))
	}
}

// Value fetches the secret.
func (s *Secret) Value(ctx context.Context, m infra.Machine) (engine.Secret, error) {
	switch {
	case s == nil:
		return "", nil
	case s.Env != "":
		v, set := os.LookupEnv(s.Env)
		if !set {
			return "", hint.With(fmt.Errorf("the environment variable %s is not set", s.Env), "export "+s.Env+"=…; the inventory expects the secret there")
		}
		return SecretText([]byte(v)), nil
	case s.File != "":
		data, err := os.ReadFile(s.File)
		if err != nil {
			return "", hint.Missing(fmt.Errorf("read a secret: %w", err), "the inventory expects the secret in that file: put it there, or correct the path")
		}
		return SecretText(data), nil
	}
	out, err := m.Run(ctx, infra.Command{Path: s.Command[0], Args: s.Command[1:]})
	if exit := (*infra.ExitError)(nil); errors.As(err, &exit) { // what it printed may hold the secret
		return "", hint.With(fmt.Errorf("fetch a secret: %s ended with status %d", s.Command[0], exit.Status), "run it by hand to see why")
	}
	if err != nil {
		return "", fmt.Errorf("fetch a secret: %w", err)
	}
	return SecretText(out.Stdout), nil
}

// SecretText is the secret in what an environment variable, a file or a program holds: all but its last line break, of Unix or of Windows.
func SecretText(data []byte) engine.Secret {
	return engine.Secret(strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"))
}

// beside makes the paths of secrets relative to the inventory's folder.
func (inv *Inventory) beside(folder string) {
	all := []*Secret{inv.State.Postgres}
	for _, c := range inv.Clusters {
		all = append(all, c.Password)
		if c.Replication != nil {
			all = append(all, c.Replication.Password)
		}
	}
	for _, s := range all {
		if s != nil && s.File != "" && !filepath.IsAbs(s.File) {
			s.File = filepath.Join(folder, s.File)
		}
	}
}

// Target is how to reach one of the cluster's nodes.
func (c Cluster) Target(node Node, password engine.Secret) engine.Target {
	return engine.Target{
		Engine: c.Engine, Addresses: []string{node.Address}, Namespace: c.Namespace, User: c.User, Password: password, Options: c.Options,
	}
}

// Whole is how to reach the cluster: all nodes that are part of it, without those that are spare.
func (c Cluster) Whole(password engine.Secret) engine.Target {
	var whole engine.Target
	for _, node := range c.Nodes {
		if node.Spare {
			continue
		}
		one := c.Target(node, password)
		one.Addresses = append(whole.Addresses, one.Addresses...)
		whole = one
	}
	return whole
}
