package lab

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// record is what is known of a cluster, as its folder keeps it.
type record struct {
	Name     string              `json:"name"`
	Made     time.Time           `json:"made"`
	Dist     engine.Distribution `json:"distribution"`
	Network  string              `json:"network"` // the nodes' common /24
	Port     int                 `json:"port"`
	Memory   int64               `json:"memory,omitempty"`
	Separate bool                `json:"separate,omitempty"` // nothing is replicated between the nodes
	Nodes    []nodeRecord        `json:"nodes"`
	Kept     []nodeRecord        `json:"kept,omitempty"` // nodes of whose data there is a copy, as they were
	Complete bool                `json:"complete"`       // Up came to its end

	Forgetful bool      `json:"forgetful,omitempty"` // nodes run on a layer that forgets
	Disk      *Disk     `json:"disk,omitempty"`      // nodes run on a layer that is as slow as a cloud's volume; of nodes to be made
	Machines  *Machines `json:"machines,omitempty"`  // every node has one
}

type nodeRecord struct {
	Number  int               `json:"number"`
	Address string            `json:"address"`
	Config  map[string]string `json:"config"`
	Own     map[string]string `json:"own,omitempty"`    // settings of this node alone, over Config
	Token   string            `json:"token,omitempty"`  // of the intention that it was grown for
	Unmade  bool              `json:"unmade,omitempty"` // it is being added, or removed
	Member  bool              `json:"member,omitempty"` // it was made a part of the cluster; what it is now, the servers know
	Apart   bool              `json:"apart,omitempty"`  // it was grown: it becomes a part by other hands than the lab's
	Copied  *copied           `json:"copied,omitempty"` // its data is another's
}

// layered tells whether a layer lies over the nodes' data while they run.
func (r *record) layered() bool { return r.Forgetful || r.Disk != nil }

func (r nodeRecord) name() string { return "n" + strconv.Itoa(r.Number) }

// node is a node as its launcher sees it.
func (r *record) node(i int, folder string, password engine.Secret) engine.Node {
	n := r.Nodes[i]
	node := engine.Node{
		Cluster: r.Name, Size: len(r.Nodes), Seeds: r.seeds(i),
		Name: n.name(), Number: n.Number, Address: n.Address, Port: r.Port, Dir: path.Join(folder, n.name()),
		Dist: r.Dist, Config: n.settings(), Memory: r.Memory, Alone: r.Separate,
		Password: password,
	}
	if r.hasMachine(node.Name) {
		node.Dir, node.Confined = dataMount, true
		if node.Memory == 0 {
			node.Memory = r.Machines.forServer()
		}
	}
	return node
}

// seeds are the addresses of up to three nodes that were there before this one; of the first, its own.
func (r *record) seeds(i int) []string {
	const enough = 3
	var all []string
	for _, n := range r.Nodes[:i] {
		if !n.Unmade && len(all) < enough {
			all = append(all, n.Address)
		}
	}
	if len(all) == 0 {
		return []string{r.Nodes[i].Address}
	}
	return all
}

// settings are a node's own, over those of the cluster. max-connections and max_connections are the same.
func (r nodeRecord) settings() map[string]string {
	all := maps.Clone(r.Own)
	if all == nil {
		return maps.Clone(r.Config)
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "-", "_") }
	own := map[string]bool{}
	for name := range r.Own {
		own[plain(name)] = true
	}
	for name, value := range r.Config {
		if !own[plain(name)] {
			all[name] = value
		}
	}
	return all
}

func (r *record) find(name string) int {
	return slices.IndexFunc(r.Nodes, func(n nodeRecord) bool { return n.name() == name })
}

func recordFile(folder string) string   { return path.Join(folder, "cluster.json") }
func passwordFile(folder string) string { return path.Join(folder, "password") }

func (r *record) write(ctx context.Context, f infra.Files, folder string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the record of %s: %w", r.Name, err)
	}
	return f.WriteFile(ctx, recordFile(folder), append(data, '\n'), 0o600)
}

// readRecord returns ErrNoCluster when there is no record.
func readRecord(ctx context.Context, f infra.Files, folder string) (*record, error) {
	data, err := f.ReadFile(ctx, recordFile(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoCluster
	}
	if err != nil {
		return nil, fmt.Errorf("read the record: %w", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read the record %s: %w", recordFile(folder), err)
	}
	if len(r.Nodes) == 0 {
		return nil, fmt.Errorf("read the record %s: no nodes", recordFile(folder))
	}
	return &r, nil
}

// makePassword draws the administrator's password and keeps it where only the owner reads it.
func makePassword(ctx context.Context, f infra.Files, folder string) (engine.Secret, error) {
	password := rand.Text()
	return engine.Secret(password), f.WriteFile(ctx, passwordFile(folder), []byte(password), 0o600)
}

func readPassword(ctx context.Context, f infra.Files, folder string) (engine.Secret, error) {
	data, err := f.ReadFile(ctx, passwordFile(folder))
	if err != nil {
		return "", fmt.Errorf("read the administrator's password: %w", err)
	}
	return engine.Secret(data), nil
}
