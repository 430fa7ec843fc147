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
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/disk/pace"
)

// record is what is known of a cluster, as its folder keeps it. It guards itself, and nobody else writes it. Its nodes are
// changed within an operation of the cluster and with the lock held: an operation may read them without, all others take it.
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

	Forgetful bool       `json:"forgetful,omitempty"` // nodes run on a layer that forgets
	Disk      *pace.Disk `json:"disk,omitempty"`      // nodes run on a layer that is as slow as a cloud's volume; of nodes to be made
	Machines  *Machines  `json:"machines,omitempty"`  // every node has one

	files    infra.Files   // of the machine on which it is kept
	folder   string        // of the cluster
	password engine.Secret // of the administrator; it has a file of its own
	mu       sync.Mutex    // guards Nodes, and writes of Kept, Disk and Complete, which the operation under way alone changes
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
func (r *record) node(name string) engine.Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.nodeAt(r.find(name))
}

func (r *record) nodeAt(i int) engine.Node {
	n := r.Nodes[i]
	node := engine.Node{
		Cluster: r.Name, Size: len(r.Nodes), Seeds: r.seeds(i),
		Name: n.name(), Number: n.Number, Address: n.Address, Port: r.Port, Dir: path.Join(r.folder, n.name()),
		Dist: r.Dist, Config: n.settings(), Memory: r.Memory, Alone: r.Separate,
		Password: r.password,
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

// of is what is written down of a node.
func (r *record) of(name string) nodeRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Nodes[r.find(name)]
}

// own are a node's settings over those of the cluster; nil if it has none, or is gone.
func (r *record) own(name string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.find(name); at >= 0 {
		return maps.Clone(r.Nodes[at].Own)
	}
	return nil
}

// config are the settings that a node has from its cluster, without those of its own.
func (r *record) config(name string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.find(name); at >= 0 {
		return maps.Clone(r.Nodes[at].Config)
	}
	return nil
}

// copyOf says from which node a node's data came; nil if it has its own, or is gone.
func (r *record) copyOf(name string) *copied {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.find(name); at >= 0 {
		return r.Nodes[at].Copied
	}
	return nil
}

// grown is the node that was grown for a token; "" if there is none.
func (r *record) grown(token string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.Nodes {
		if n.Token == token && token != "" && !n.Unmade {
			return n.name()
		}
	}
	return ""
}

// add writes one more node down, to be kept by save.
func (r *record) add(n nodeRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Nodes = append(r.Nodes, n)
}

// drop strikes a node out, to be kept by save.
func (r *record) drop(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.find(name)
	r.Nodes = slices.Delete(r.Nodes, at, at+1)
}

// sort puts the nodes into the order of their numbers.
func (r *record) sort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(r.Nodes, func(a, b nodeRecord) int { return a.Number - b.Number })
}

// note changes what is written down of a node, and keeps it.
func (r *record) note(ctx context.Context, name string, change func(*nodeRecord)) error {
	r.mu.Lock()
	change(&r.Nodes[r.find(name)])
	r.mu.Unlock()
	return r.save(ctx)
}

// change changes what is written down of the cluster, and keeps it.
func (r *record) change(ctx context.Context, change func(*record)) error {
	r.mu.Lock()
	change(r)
	r.mu.Unlock()
	return r.save(ctx)
}

func recordFile(folder string) string   { return path.Join(folder, "cluster.json") }
func passwordFile(folder string) string { return path.Join(folder, "password") }

// save keeps it in the cluster's folder.
func (r *record) save(ctx context.Context) error {
	r.mu.Lock()
	data, err := json.MarshalIndent(r, "", "  ")
	r.mu.Unlock()
	if err != nil {
		return fmt.Errorf("write the record of %s: %w", r.Name, err)
	}
	return r.files.WriteFile(ctx, recordFile(r.folder), append(data, '\n'), 0o600)
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
	r := record{files: f, folder: folder}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read the record %s: %w", recordFile(folder), err)
	}
	if len(r.Nodes) == 0 {
		return nil, fmt.Errorf("read the record %s: no nodes", recordFile(folder))
	}
	return &r, nil
}

// makePassword draws the administrator's password and keeps it where only the owner reads it.
func (r *record) makePassword(ctx context.Context) error {
	password := rand.Text()
	r.password = engine.Secret(password)
	return r.files.WriteFile(ctx, passwordFile(r.folder), []byte(password), 0o600)
}

func (r *record) readPassword(ctx context.Context) error {
	data, err := r.files.ReadFile(ctx, passwordFile(r.folder))
	if err != nil {
		return fmt.Errorf("read the administrator's password: %w", err)
	}
	r.password = engine.Secret(data)
	return nil
}
