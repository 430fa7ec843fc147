package singlestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
)

// sdbAdmin has SingleStore's toolbox do something, on the machine of the master aggregator, and returns what it prints. mark is
// how the program is found again; "" for one that only looks.
func sdbAdmin(ctx context.Context, on *cluster.Cluster, mark string, args ...string) ([]byte, error) {
	n, err := on.Node(ctx, "")
	if err != nil {
		return nil, err
	}
	if n.Tool == nil || n.Machine == nil {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not know where sdb-admin runs for %s", on.Name),
			Advice: "run Plimsoll on the host whose toolbox manages the cluster, and set machine: local for the master aggregator in the inventory"}
	}
	c, err := n.Tool(args...)
	if err != nil {
		return nil, err
	}
	c.Mark = mark
	out, err := n.Machine.Run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("sdb-admin %s: %w", args[0], inWords(err))
	}
	return out.Stdout, nil
}

// inWords is what sdb-admin says went wrong, without the status that everything ends with.
func inWords(err error) error {
	var exit *infra.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if text := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(exit.Stderr), "✘")); text != "" {
		return errors.New(text)
	}
	return err
}

// node is a server as the toolbox knows it.
type node struct {
	ID   string `json:"memsqlId"`
	Host string `json:"host"`
	Port int    `json:"port"`
	Role string `json:"role"` // Master, Aggregator, Leaf; Unknown: it is part of no cluster
}

func (n node) address() string { return net.JoinHostPort(n.Host, strconv.Itoa(n.Port)) }

func (n node) idle() bool { return strings.EqualFold(n.Role, "unknown") }

// findNode is the server at an address; nil if the toolbox knows none there.
func findNode(ctx context.Context, on *cluster.Cluster, address string) (*node, error) {
	out, err := sdbAdmin(ctx, on, "", "list-nodes", "--json")
	if err != nil {
		return nil, err
	}
	return parseNodes(out, address)
}

// parseNodes reads what sdb-admin list-nodes --json prints.
func parseNodes(out []byte, address string) (*node, error) {
	var listed struct {
		Nodes *[]node `json:"nodes"`
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, fmt.Errorf("sdb-admin list-nodes: read its answer: %w", err)
	}
	if listed.Nodes == nil {
		return nil, fmt.Errorf("sdb-admin list-nodes: there are no nodes in its answer: %.100q", out)
	}
	for _, n := range *listed.Nodes {
		if n.ID == "" || n.Host == "" || n.Port == 0 {
			return nil, fmt.Errorf("sdb-admin list-nodes: a node without id, host or port: %+v", n)
		}
		if n.address() == address {
			return &n, nil
		}
	}
	return nil, nil
}

// onServer is what the actions on one server take.
type onServer struct {
	Leaf string `yaml:"leaf,required" doc:"host:port of the server: the host as sdb-admin names it, and the port at which the other nodes reach it."`
}

// Validate refuses what is no address.
func (s onServer) Validate() error {
	host, port, err := net.SplitHostPort(s.Leaf)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || host == "" || n == 0 {
		return fmt.Errorf("leaf is %q, expected host:port", s.Leaf)
	}
	return nil
}

// hostPort are the two flags by which sdb-admin is told the address.
func (s onServer) hostPort() []string {
	host, port, _ := net.SplitHostPort(s.Leaf) // Validate has split it
	return []string{"--host", host, "--port", port}
}

// AwaitInFlight waits for the end of an sdb-admin that outlived who ran it, and of what it had the cluster do.
func (s onServer) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, c)
}
