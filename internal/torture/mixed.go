package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/journal"
)

// mixed is an attack on the runbooks of one product as a whole: processes of two homes that are killed or put to sleep, runs that are
// resumed, taken back, cancelled and left, servers that are killed and frozen. What it believes it has seen in the servers themselves.
type mixed struct {
	program, product  string
	seed              uint64
	home, work, files string // its labs; the stores of the tries; runbooks of its own
	lab               string
	only              string // a story; empty: all
	password          engine.Secret
	version           string
}

// mixedResult is what is kept of an attack.
type mixedResult struct {
	Product string          `json:"product"`
	Version string          `json:"version"`
	Seed    uint64          `json:"seed"`
	At      time.Time       `json:"at"`
	Took    time.Duration   `json:"took_ns"`
	Rebuilt int             `json:"rebuilt"` // how many times the lab was made anew
	Stories map[string]*sum `json:"stories"`
	Tries   []*attempt      `json:"troubled,omitempty"` // those with troubles
}

// sum is what the tries of a story came to.
type sum struct {
	Tries   int            `json:"tries"`
	Kills   int            `json:"kills"`
	Asleep  int            `json:"asleep,omitempty"`
	Upsets  int            `json:"upsets,omitempty"` // servers that were killed or frozen
	Ends    map[string]int `json:"ends"`
	Acked   int            `json:"acknowledged"`
	Said    int            `json:"said,omitempty"` // tries after which the cluster was not whole, as a status said
	Trouble int            `json:"troubles,omitempty"`
}

func (m *mixed) ring() bool { return m.product == "cassandra" }

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// plimsoll runs a command for the attack itself.
func (m *mixed) plimsoll(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, m.program, args...)
	cmd.Env = append(os.Environ(), "PLIMSOLL_HOME="+m.home)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("plimsoll %s: %w: %s", strings.Join(args, " "), err, problems.String())
	}
	return string(out), nil
}

// up makes the lab anew.
func (m *mixed) up(ctx context.Context) error {
	_, _ = m.plimsoll(ctx, "lab", "down", m.lab) // there may be none
	flags := []string{"lab", "up", m.product, "--name", m.lab, "--nodes", "3"}
	if m.ring() {
		flags = append(flags, swift...)
	} else {
		flags = append(flags, smallServers(m.product)...)
	}
	if _, err := m.plimsoll(ctx, flags...); err != nil {
		return err
	}
	secret, err := os.ReadFile(filepath.Join(m.home, "lab", m.lab, "password"))
	if err != nil {
		return fmt.Errorf("read the lab's password: %w", err)
	}
	m.password = engine.Secret(strings.TrimSpace(string(secret)))
	if m.ring() {
		return m.seedRing(ctx)
	}
	_, err = m.plimsoll(ctx, "runbook", "run", filepath.Join(m.files, "ledger.yaml"), "--cluster", m.lab, "--yes")
	return err
}

// serversOf are the lab's servers, in the order of their names.
func (m *mixed) serversOf(ctx context.Context) ([]server, error) {
	out, err := m.plimsoll(ctx, "lab", "list", "--json")
	if err != nil {
		return nil, err
	}
	var labs []struct {
		Name, Version string
		Nodes         []server
	}
	if err := json.Unmarshal([]byte(out), &labs); err != nil {
		return nil, fmt.Errorf("read the labs: %w", err)
	}
	for _, l := range labs {
		if l.Name != m.lab {
			continue
		}
		m.version = l.Version
		for i := range l.Nodes {
			l.Nodes[i].account = engine.Target{Engine: "mysql", User: "plimsoll", Password: m.password}
		}
		slices.SortFunc(l.Nodes, func(a, b server) int { return cmp.Compare(a.Name, b.Name) })
		return l.Nodes, nil
	}
	return nil, fmt.Errorf("there is no lab %s", m.lab)
}

// writer is the account of the ledger's application.
func (m *mixed) writer() engine.Target {
	return engine.Target{Engine: "mysql", User: "attack", Password: "attack"}
}

// inventory is the cluster as another home knows it: without its machines.
func (m *mixed) inventory(servers []server) string {
	file := filepath.Join(m.home, "lab", m.lab, "password")
	kind := map[bool]string{true: "cql", false: "mysql"}[m.ring()]
	text := "clusters:\n  elsewhere:\n    engine: " + kind + "\n    environment: lab\n    user: plimsoll\n    password: {file: " + file + "}\n"
	if !m.ring() {
		text += "    replication: {user: plimsoll, password: {file: " + file + "}}\n"
	}
	text += "    nodes:\n"
	for _, s := range servers {
		text += fmt.Sprintf("      - {name: %s, address: %q}\n", s.Name, s.Address)
	}
	return text
}

// attack makes tries until there were so many kills, or the time is over.
func (m *mixed) attack(ctx context.Context, kills, first int, within time.Duration, say func(string)) (res mixedResult, err error) {
	res = mixedResult{Seed: m.seed, Product: m.product, At: time.Now().UTC().Truncate(time.Second), Stories: map[string]*sum{}}
	defer func() { res.Took = time.Since(res.At) }()
	if err := m.up(ctx); err != nil {
		return res, err
	}
	defer func() {
		_, down := m.plimsoll(context.WithoutCancel(ctx), "lab", "down", m.lab)
		err = errors.Join(err, down)
	}()
	for n, total := first, 0; total < kills && time.Since(res.At) < within; n++ {
		if d := draw(m.seed, n, m.stories()); m.only != "" && d.Story != m.only {
			continue
		}
		t, err := m.try(ctx, n)
		if err != nil {
			return res, err
		}
		total += t.Kills
		say(t.line(total))
		res.add(t)
		promoted := t.promotedElsewhere(ctx)
		if err := t.keep(); err != nil {
			return res, err
		}
		if m.whole(ctx) && !promoted {
			continue
		}
		res.Rebuilt++
		if err := m.up(ctx); err != nil {
			return res, err
		}
	}
	res.Version = m.version
	return res, nil
}

// promotedElsewhere tells whether the other home, which reaches no machine, has made a server the primary. What its option file says
// stays, as its plan tells: the next restart would make it read-only, and nobody would take writes.
func (t *attempt) promotedElsewhere(ctx context.Context) bool {
	runs, err := t.b.runs(ctx)
	return err != nil || slices.ContainsFunc(runs, func(r told) bool {
		return (r.Runbook == "mysql/switchover" || r.Runbook == "mysql/failover") && (r.Status == string(journal.RunDone) || r.Status == journal.DoneWithRemainders)
	})
}

// whole tells whether the next try may begin with the lab as it is.
func (m *mixed) whole(ctx context.Context) bool {
	servers, err := m.serversOf(ctx)
	if err != nil || len(servers) != 3 {
		return false
	}
	if m.ring() {
		return m.ringWhole(ctx, servers)
	}
	s := settle(ctx, servers, 3*time.Second)
	roles := map[string]int{}
	for _, one := range servers {
		roles[one.Role]++
	}
	return s.healthy() && s.claim == "" && roles["primary"] == 1 && roles["replica"] == 2
}

func (t *attempt) line(total int) string {
	text := fmt.Sprintf("seed %d try %d: %s, %d kills (%d in all), ends %v", t.m.seed, t.Number, t.Drawn.Story, t.Kills, total, t.Ends)
	if t.Looked != "" {
		text += "; said: " + t.Looked
	}
	for _, trouble := range t.Troubles {
		text += "\n  TROUBLE: " + trouble
	}
	return text
}

func (r *mixedResult) add(t *attempt) {
	s := r.Stories[t.Drawn.Story]
	if s == nil {
		s = &sum{Ends: map[string]int{}}
		r.Stories[t.Drawn.Story] = s
	}
	s.Tries++
	s.Kills += t.Kills
	s.Asleep += t.Asleep
	s.Acked += t.Acked
	s.Upsets += t.Upsets
	for _, end := range t.Ends {
		s.Ends[end]++
	}
	if t.Looked != "" {
		s.Said++
	}
	if len(t.Troubles) > 0 {
		s.Trouble++
		r.Tries = append(r.Tries, t)
	}
}
