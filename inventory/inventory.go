// Package inventory reads plimsoll.yaml: the clusters that exist, where they answer, and where their credentials are.
// It holds no secret, only where each is found.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/internal/document"
)

// File is the name of the inventory, looked for in the working folder.
const File = "plimsoll.yaml"

// Inventory is the file as read and checked.
type Inventory struct {
	Clusters map[string]Cluster `yaml:"clusters" doc:"By name."`
	State    State              `yaml:"state" doc:"Where runs are kept."`
}

// State says where runs are kept.
type State struct {
	Postgres *Secret `yaml:"postgres" doc:"Where the connection string of a Postgres that a team shares is found. Default: a SQLite file in the state folder."`
}

// Cluster is a target: it exists, and Plimsoll did not make it.
type Cluster struct {
	Engine      string            `yaml:"engine,required" doc:"mysql for MySQL and MariaDB, cql for Cassandra and ScyllaDB, singlestore; the product's name will do."`
	Environment string            `yaml:"environment,required" doc:"lab, staging or production; the gate of a runbook is for production."`
	Nodes       []Node            `yaml:"nodes,required" doc:"The primary first."`
	User        string            `yaml:"user,required" doc:"Who asks."`
	Password    *Secret           `yaml:"password" doc:"Where the password is found. Default: none."`
	Namespace   string            `yaml:"database" doc:"Database or keyspace."`
	Options     map[string]string `yaml:"options" doc:"The engine's own, such as tls: required."`
	Replication *Account          `yaml:"replication" doc:"The account by which nodes follow one another, for nodes that do not follow yet."`
}

// Account is who logs in.
type Account struct {
	User     string  `yaml:"user,required" doc:"Who asks."`
	Password *Secret `yaml:"password,required" doc:"Where the password is found."`
}

// Node is one server.
type Node struct {
	Name    string `yaml:"name,required" doc:"As runbooks call it."`
	Address string `yaml:"address,required" doc:"host:port, or the path of a Unix socket."`
	Machine string `yaml:"machine" doc:"local, if it runs on this machine; then commands can be run there."`
	Spare   bool   `yaml:"spare" doc:"It is a server that is no part of the cluster yet, or no more."`
}

// Secret says where a secret is found: one of the three.
type Secret struct {
	Env     string   `yaml:"env" doc:"In this environment variable."`
	File    string   `yaml:"file" doc:"In this file, without its last line break."`
	Command []string `yaml:"command" doc:"In what this program prints, without its last line break."`
}

var (
	environments = []string{"lab", "staging", "production"}
	families     = map[string]string{"mariadb": "mysql", "cassandra": "cql", "scylladb": "cql"} // the engines of products
	validName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)
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
	return Parse(path, data)
}

// Parse is Read of a text.
func Parse(name string, data []byte) (*Inventory, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	var inv Inventory
	if err := root.Decode(&inv); err != nil {
		return nil, err
	}
	var ps document.Problems
	for name, c := range inv.Clusters {
		if family := families[c.Engine]; family != "" {
			c.Engine = family
			inv.Clusters[name] = c
		}
	}
	for _, name := range document.SortedKeys(inv.Clusters) {
		inv.Clusters[name].check(name, root.Get("clusters").Get(name), &ps)
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
	if !slices.Contains(environments, c.Environment) {
		ps.Add(n, document.UnknownName(n.Get("environment"), "environment", environments))
	}
	if len(c.Nodes) == 0 {
		ps.Add(n, n.Get("nodes").Errorf("no nodes"))
	}
	if members := slices.ContainsFunc(c.Nodes, func(n Node) bool { return !n.Spare }); len(c.Nodes) > 0 && !members {
		ps.Add(n, n.Get("nodes").Errorf("only spare nodes"))
	}
	if c.Replication != nil {
		c.Replication.Password.check(n.Get("replication").Get("password"), ps)
	}
	seen := map[string]bool{}
	for i, node := range c.Nodes {
		at := n.Get("nodes").Items[i]
		if seen[node.Name] {
			ps.Add(at, at.Errorf("node %q stands twice", node.Name))
		}
		seen[node.Name] = true
		if node.Machine != "" && node.Machine != "local" {
			ps.Add(at, document.UnknownName(at.Get("machine"), "machine", []string{"local"}))
		}
	}
	if c.Password != nil {
		c.Password.check(n.Get("password"), ps)
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
		ps.Add(n, n.Errorf("%d places for a secret, expected one of env, file or command", given))
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
			return "", infra.Advise(fmt.Errorf("the environment variable %s is not set", s.Env), "the inventory says that a secret is there")
		}
		return engine.Secret(v), nil
	case s.File != "":
		data, err := os.ReadFile(s.File)
		if err != nil {
			return "", fmt.Errorf("read a secret: %w", err)
		}
		return engine.Secret(strings.TrimSuffix(string(data), "\n")), nil
	}
	out, err := m.Run(ctx, infra.Command{Path: s.Command[0], Args: s.Command[1:]})
	if err != nil {
		return "", fmt.Errorf("fetch a secret: %w", err)
	}
	return engine.Secret(strings.TrimSuffix(string(out.Stdout), "\n")), nil
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
