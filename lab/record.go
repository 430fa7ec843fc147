package lab

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
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
	Nodes    []nodeRecord        `json:"nodes"`
	Kept     []string            `json:"kept,omitempty"` // nodes of whose data there is a copy
	Complete bool                `json:"complete"`       // Up came to its end
}

type nodeRecord struct {
	Number  int               `json:"number"`
	Address string            `json:"address"`
	Config  map[string]string `json:"config"`
	Unmade  bool              `json:"unmade,omitempty"` // it is being added
}

func (r nodeRecord) name() string { return "n" + strconv.Itoa(r.Number) }

// node is a node as its launcher sees it.
func (r *record) node(i int, folder string, password engine.Secret) engine.Node {
	n := r.Nodes[i]
	return engine.Node{
		Cluster: r.Name, Size: len(r.Nodes), Seeds: []string{r.Nodes[0].Address},
		Name: n.name(), Number: n.Number, Address: n.Address, Port: r.Port, Dir: path.Join(folder, n.name()),
		Dist: r.Dist, Config: n.Config, Memory: r.Memory, Password: password,
	}
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
