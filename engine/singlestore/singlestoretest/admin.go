package singlestoretest

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is what stands in the place of sdb-admin. It leaves what it was asked in a file, with the environment's password,
// and waits for the answer: the model is in the test's process. What it began in the cluster goes on when it is killed.
const program = `#!/bin/sh
ask="%s/$$"
{ printf '%%s\n' "$MEMSQL_PASSWORD"; for word in "$@"; do printf '%%s\n' "$word"; done; } > "$ask.new"
mv "$ask.new" "$ask.ask"
until [ -e "$ask.done" ]; do sleep 0.01; done
cat "$ask.out"
cat "$ask.err" >&2
exit "$(cat "$ask.done")"
`

// admin is sdb-admin, which works on a cluster.
type admin struct{ *Cluster }

// OnPath puts the program on the test's PATH and answers it until the test has ended.
func (c *Cluster) OnPath(t testing.TB) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "sdb-admin"), fmt.Appendf(nil, program, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	stop := make(chan struct{})
	var answering sync.WaitGroup
	answering.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-stop:
				return
			}
			asked, _ := filepath.Glob(filepath.Join(folder, "*.ask"))
			for _, path := range asked {
				if err := (admin{c}).hear(t, path, &answering); err != nil {
					t.Errorf("stand in for sdb-admin: %v", err)
					return
				}
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		answering.Wait()
	})
}

// hear begins what the program was asked, unless it was killed before.
func (c admin) hear(t testing.TB, path string, answering *sync.WaitGroup) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	path = strings.TrimSuffix(path, ".ask")
	if pid, err := strconv.Atoi(filepath.Base(path)); err != nil || syscall.Kill(pid, 0) != nil {
		return err
	}
	words := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	answering.Go(func() {
		if err := c.obey(path, words); err != nil {
			t.Errorf("stand in for sdb-admin: %v", err)
		}
	})
	return nil
}

// obey does what the program was asked, as soon as nothing holds it, and answers. What moves partitions is held by its moves.
func (c admin) obey(path string, words []string) error {
	if words[1] != "list-nodes" && words[1] != "remove-leaf" {
		c.mu.Lock()
		held := c.keep()
		c.mu.Unlock()
		<-held
	}
	out, trouble, rest := c.do(words[0], words[1:])
	if rest != nil {
		out, trouble = "{}", rest()
	}
	return answer(path, out, trouble)
}

func answer(path, out, trouble string) error {
	status := "0"
	if trouble != "" {
		status, trouble = "1", "✘ "+trouble+"\n"
	}
	for _, part := range [][2]string{{".out", out}, {".err", trouble}, {".done.new", status}} {
		if err := os.WriteFile(path+part[0], []byte(part[1]), 0o600); err != nil {
			return err
		}
	}
	return os.Rename(path+".done.new", path+".done")
}

// flags are the words behind a command: --name value, or --name alone.
func flags(words []string) map[string]string {
	all := map[string]string{}
	for i, word := range words {
		if name, is := strings.CutPrefix(word, "--"); is {
			all[name] = ""
			if i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
				all[name] = words[i+1]
			}
		}
	}
	return all
}

// do does what sdb-admin documents of a command. What takes time is returned as rest, which says what went wrong.
func (c admin) do(secret string, words []string) (out, trouble string, rest func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.secrets = append(c.calls, strings.Join(words, " ")), append(c.secrets, secret)
	command, f := words[0], flags(words[1:])
	_, yes := f["yes"]
	if _, asJSON := f["json"]; !yes && !asJSON {
		return "", "the command asks whether to go on, and nobody answers", nil
	}
	if secret != Password && (command == "create-node" || command == "add-leaf") {
		return "", "a password is required", nil
	}
	n := c.find(f)
	switch {
	case command == "list-nodes":
		return c.list(), "", nil
	case command == "create-node":
		port, err := strconv.Atoi(f["port"])
		if n != nil || err != nil {
			return "", "port " + f["port"] + " on host " + f["host"] + " is in use or invalid", nil
		}
		return asJSON(map[string]any{"memsqlId": c.make(f["host"], port).id}), "", nil
	case n == nil:
		return "", "no node was found", nil
	case command == "add-leaf":
		out, trouble = c.add(n, f)
		return out, trouble, nil
	case command == "remove-leaf":
		trouble, rest = c.remove(n)
		return "", trouble, rest
	case command == "delete-node":
		if _, stop := f["stop"]; !stop || n.role != "Unknown" {
			return "", "the node runs, or is part of a cluster", nil
		}
		c.nodes = slices.DeleteFunc(c.nodes, func(other *node) bool { return other == n })
		return "{}", "", nil
	}
	return "", "unknown command " + command, nil
}

// find is the node of an id, or of a host and a port; nil if there is none.
func (c admin) find(f map[string]string) *node {
	at := slices.IndexFunc(c.nodes, func(n *node) bool {
		return n.id == f["memsql-id"] || f["memsql-id"] == "" && n.host == f["host"] && strconv.Itoa(n.port) == f["port"]
	})
	if at < 0 {
		return nil
	}
	return c.nodes[at]
}

func (c admin) list() string {
	var all []map[string]any
	for _, n := range c.nodes {
		all = append(all, map[string]any{
			"memsqlId": n.id, "host": n.host, "port": n.port, "role": n.role, "processState": "Running", "isConnectable": true,
			"version": Version, "recoveryState": "Online", "bindAddress": "0.0.0.0",
		})
	}
	return asJSON(map[string]any{"nodes": all})
}

func asJSON(v any) string {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // it is of texts and numbers
	}
	return string(data)
}

// add makes a node a leaf of a group, the smaller one if none is named.
func (c admin) add(n *node, f map[string]string) (out, trouble string) {
	if n.role != "Unknown" {
		return "", "the node is a " + n.role + " already"
	}
	count := map[int]int{}
	for _, l := range c.leaves {
		count[l.group]++
	}
	group := 1
	if c.spec.Copies == 2 && count[2] < count[1] {
		group = 2
	}
	if wanted, err := strconv.Atoi(f["availability-group"]); err == nil {
		group = wanted
	}
	n.role = "Leaf"
	c.leaves = append(c.leaves, &leaf{host: n.host, port: n.port, group: group, state: "online"})
	return "{}", ""
}

// remove begins REMOVE LEAF; rest plays it to its end. The lock is held.
func (c admin) remove(n *node) (trouble string, rest func() string) {
	goes := c.leaf(net.JoinHostPort(n.host, strconv.Itoa(n.port)))
	if goes == nil {
		return "the node is no leaf", nil
	}
	moves, failure := c.begin(c.spec.Databases, goes)
	if failure != nil {
		return failure.Text, nil
	}
	const toolbox = 0 // its connection
	c.executing[toolbox] = fmt.Sprintf("REMOVE LEAF '%s':%d", n.host, n.port)
	return "", func() string {
		failure := c.play(moves)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.executing, toolbox)
		if failure != nil {
			return failure.Text
		}
		c.leaves = slices.DeleteFunc(c.leaves, func(l *leaf) bool { return l == goes })
		n.role = "Unknown"
		return ""
	}
}
