package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// cluster is the lab's cluster as this machine shows it: folders, processes and addresses. None of it is asked of Plimsoll.
type cluster struct {
	name, product, folder  string
	network, user, version string
	password               string
	port                   int
}

// up makes the lab, unless it runs already in the state folder that was given.
func (a *attack) up(ctx context.Context, nodes int) error {
	if a.rejoin() {
		return nil
	}
	s := a.program.do(ctx, nil, "lab", "up", a.product, "--nodes", itoa(nodes), "--json")
	var made struct {
		Addresses    []string
		User         string
		Version      string
		PasswordFile string `json:"password_file"`
	}
	if err := json.Unmarshal([]byte(s.out), &made); err != nil {
		return fmt.Errorf("%s: %s", s.line(), s.err)
	}
	host, port, _ := strings.Cut(made.Addresses[0], ":")
	password, err := os.ReadFile(made.PasswordFile)
	c := &a.cluster
	c.name, c.product, c.folder, c.user, c.version = a.product, a.product, filepath.Dir(made.PasswordFile), made.User, made.Version
	c.network, c.password = host[:strings.LastIndex(host, ".")+1], string(password)
	_, scanned := fmt.Sscan(port, &c.port)
	return errors.Join(err, scanned)
}

func (a *attack) rejoin() bool {
	folder := filepath.Join(a.program.home, "lab", a.product)
	record, err := os.ReadFile(filepath.Join(folder, "cluster.json"))
	password, unread := os.ReadFile(filepath.Join(folder, "password"))
	var made struct {
		Network      string
		Port         int
		Complete     bool
		Distribution struct{ Exact string }
	}
	if err != nil || unread != nil || json.Unmarshal(record, &made) != nil || !made.Complete {
		return false
	}
	a.cluster = cluster{name: a.product, product: a.product, folder: folder, network: strings.TrimSuffix(made.Network, "0"), user: "plimsoll",
		version: made.Distribution.Exact, password: string(password), port: made.Port}
	return true
}

// nodes are those that have a folder, in the order of their numbers.
func (c *cluster) nodes() (names []string) {
	found, _ := filepath.Glob(filepath.Join(c.folder, "n[0-9]*"))
	for _, f := range found {
		names = append(names, filepath.Base(f))
	}
	slices.SortFunc(names, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	return names
}

func (c *cluster) address(node string) string { return c.network + strings.TrimPrefix(node, "n") }

func (c *cluster) named(address string) string {
	return "n" + address[strings.LastIndex(address, ".")+1:]
}

// pid finds the process of a node's server; 0 if it has none.
func (c *cluster) pid(node string) int {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range found {
		data, err := os.ReadFile(f)
		text := string(data)
		program, _, _ := strings.Cut(text, "\x00")
		if err != nil || !strings.Contains(text, filepath.Join(c.folder, node)+"/") || !slices.Contains([]string{"java", "mariadbd", "mysqld"}, filepath.Base(program)) && !strings.Contains(text, "sbin/mysqld") {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(f, "/proc/%d/cmdline", &pid); err == nil && !isZombie(pid) {
			return pid
		}
	}
	return 0
}

func isZombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(data), ") Z ")
}

func (c *cluster) signal(node string, what syscall.Signal) bool {
	pid := c.pid(node)
	return pid > 0 && syscall.Kill(pid, what) == nil
}

// thaw lets all frozen servers go on.
func (c *cluster) thaw() {
	for _, n := range c.nodes() {
		c.signal(n, syscall.SIGCONT)
	}
}

func (c *cluster) server(node, user, password, database string) *server {
	return &server{name: node, address: c.address(node), port: c.port, user: user, password: password, database: database}
}

// view is how one server stands, by its own word.
type view struct {
	node     string
	pid      int
	trouble  string // why it did not answer
	writable bool
	source   string // the node that it follows
	follows  bool   // both threads of its replication run
	claim    string
	lock     bool
	rows     string
}

func (v view) String() string {
	switch {
	case v.pid == 0:
		return v.node + " has no process"
	case v.trouble != "":
		return v.node + " does not answer: " + v.trouble
	case v.writable && v.source == "":
		return v.node + " accepts writes"
	}
	return fmt.Sprintf("%s: writable %t, follows %q %t, claim %q, lock %t, rows %s", v.node, v.writable, v.source, v.follows, v.claim, v.lock, v.rows)
}

// What SHOW REPLICA STATUS tells stands in the same columns on both products.
const sourceHost, receiverRuns, applierRuns = 1, 10, 11

// look asks all servers at once.
func (w *relational) look() []view {
	views := make([]view, len(w.nodes()))
	var all sync.WaitGroup
	for i, n := range w.nodes() {
		all.Go(func() { views[i] = w.lookAt(n) })
	}
	all.Wait()
	return views
}

func (w *relational) lookAt(node string) view {
	v := view{node: node, pid: w.pid(node)}
	if v.pid == 0 {
		return v
	}
	s := w.admin(node)
	const patience = 5 * time.Second
	word, err := s.ask(patience, "SELECT @@global.read_only, IFNULL(IS_USED_LOCK('plimsoll.claim'), 0) <> 0")
	if err != nil {
		v.trouble = err.Error()
		return v
	}
	var readOnly, locked int
	_, _ = fmt.Sscan(word, &readOnly, &locked)
	v.writable, v.lock = readOnly == 0, locked == 1
	if word, err = s.ask(patience, "SHOW REPLICA STATUS"); err != nil {
		v.trouble = err.Error()
		return v
	}
	if columns := strings.Split(word, "\t"); len(columns) > applierRuns {
		v.source = w.named(columns[sourceHost])
		v.follows = columns[receiverRuns] == "Yes" && columns[applierRuns] == "Yes"
	}
	if v.claim, err = s.ask(patience, "SELECT run FROM plimsoll.claim"); err != nil && !strings.Contains(err.Error(), "ERROR 1146") && !strings.Contains(err.Error(), "ERROR 1049") {
		v.trouble = err.Error()
	}
	if v.rows, err = s.ask(patience, "SELECT COUNT(*), SUM(id), SUM(CRC32(note)) FROM attack.ledger"); err != nil {
		v.rows = err.Error()
	}
	return v
}

// ill lists what is not as it has to be, when the servers that need not serve are left out. It leaves time for what takes time.
func (w *relational) ill(within time.Duration, but ...string) (complaints []string) {
	w.writer.pause()
	defer w.writer.resume()
	for end := time.Now().Add(within); ; time.Sleep(700 * time.Millisecond) {
		if complaints = w.complaints(w.look(), but); len(complaints) == 0 || time.Now().After(end) {
			return complaints
		}
	}
}

func (w *relational) complaints(views []view, but []string) (all []string) {
	var primary *view
	for i, v := range views {
		if v.writable && v.pid > 0 {
			if primary != nil {
				all = append(all, fmt.Sprintf("two servers accept writes: %s and %s", primary.node, v.node))
			}
			primary = &views[i]
		}
	}
	if primary == nil {
		all = append(all, "no server accepts writes")
		for _, v := range views {
			all = append(all, v.String())
		}
		return all
	}
	for _, v := range views {
		switch {
		case v.claim != "" && v.trouble == "" && (v.node == primary.node || v.source == primary.node): // what others have is old
			all = append(all, fmt.Sprintf("%s: a claim stands, of run %s", v.node, v.claim))
		case v.lock:
			all = append(all, v.node+": the lock plimsoll.claim is held")
		}
		switch {
		case slices.Contains(but, v.node) || v.node == primary.node:
		case v.pid == 0 || v.trouble != "":
			all = append(all, v.String())
		case v.source != primary.node || !v.follows:
			all = append(all, fmt.Sprintf("%s follows %q (running %t), and %s is the primary", v.node, v.source, v.follows, primary.node))
		case v.rows != primary.rows:
			all = append(all, fmt.Sprintf("%s has rows %s, %s has %s", v.node, v.rows, primary.node, primary.rows))
		}
	}
	return all
}

// primary is the one server that accepts writes; empty if there is none.
func (w *relational) primary() (node string) {
	for _, n := range w.nodes() {
		if w.pid(n) == 0 {
			continue
		}
		if word, err := w.admin(n).ask(3*time.Second, "SELECT @@global.read_only"); err == nil && word == "0" {
			node = n
		}
	}
	return node
}

// guard looks for two servers that accept writes at the same moment, the whole time.
func (w *relational) guard(ctx context.Context) {
	asks := map[string]*server{}
	writable := func(n string) bool {
		if asks[n] == nil {
			asks[n] = w.server(n, w.user, w.cluster.password, "")
		}
		word, err := asks[n].ask(1500*time.Millisecond, "SELECT @@global.read_only")
		return err == nil && word == "0"
	}
	for ; ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		var found []string
		for _, n := range w.members.list() {
			if writable(n) {
				found = append(found, n)
			}
		}
		// The first accepted writes before the second was asked and still does: both did when the second was.
		if len(found) > 1 && writable(found[0]) && writable(found[1]) && writable(found[0]) {
			w.report("two servers accept writes at once", strings.Join(found, " and "))
			time.Sleep(5 * time.Second)
		}
	}
	for _, s := range asks {
		s.close()
	}
}
