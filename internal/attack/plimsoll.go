package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// program is Plimsoll as a person types it, with one state folder.
type program struct {
	binary, home, work string
	patience           time.Duration // how long a command may take on a machine with other work, before that is a finding
}

// event is what a run with --json prints of each entry of its journal.
type event struct {
	Kind    string `json:"kind"`
	Step    string `json:"step"`
	Outcome string `json:"outcome"`
}

// blow says when a command is killed: some time after its start, or after an entry of the journal was seen.
type blow struct {
	after time.Duration
	entry int // 0: from the start
}

func (b blow) String() string {
	if b.entry > 0 {
		return "entry " + itoa(b.entry) + " and " + b.after.Round(time.Millisecond).String()
	}
	return b.after.Round(time.Millisecond).String()
}

// said is a command that has ended, with all that it printed.
type said struct {
	args     []string
	code     int
	killed   bool // by us
	slow     bool // it was given up
	out, err string
	events   []event
	run      string
	took     time.Duration
}

func (s said) line() string { return "plimsoll " + strings.Join(s.args, " ") }

// undoing tells whether the process was taking a run back when it ended.
func (s said) undoing() bool {
	for _, e := range s.events {
		if e.Kind == "undoing" || e.Kind == "stopping" {
			return true
		}
	}
	return false
}

var runLine = regexp.MustCompile(`(?m)^run (\S+-[a-z0-9]{6})$`)

// do runs a command to its end, or until the blow. A step that waits for an approval gets it.
func (p program) do(ctx context.Context, b *blow, args ...string) said {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Dir, cmd.WaitDelay = p.work, 5*time.Second
	cmd.Env = append(os.Environ(), "PLIMSOLL_HOME="+p.home)
	var stderr lines
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	s := said{args: args}
	began := time.Now()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.code, s.err = -1, err.Error()
		return s
	}
	var struck sync.Once
	strike := func() { struck.Do(func() { s.killed = cmd.Process.Kill() == nil }) }
	var timers []*time.Timer
	if b != nil && b.entry == 0 {
		timers = append(timers, time.AfterFunc(b.after, strike))
	}
	var out bytes.Buffer
	scan := bufio.NewScanner(pipe)
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		out.Write(append(scan.Bytes(), '\n'))
		var l struct {
			Event event `json:"event"`
		}
		if json.Unmarshal(scan.Bytes(), &l) != nil || l.Event.Kind == "" {
			continue
		}
		s.events = append(s.events, l.Event)
		if b != nil && b.entry == len(s.events) {
			if b.after == 0 {
				strike()
			} else {
				timers = append(timers, time.AfterFunc(b.after, strike))
			}
		}
		if l.Event.Kind == "asked" {
			run := first(runLine, stderr.String())
			if run == "" && len(args) > 2 { // of resume RUN
				run = args[2]
			}
			go p.do(ctx, nil, "runbook", "approve", run, "--step", l.Event.Step, "--yes")
		}
	}
	_ = cmd.Wait() // its code says it
	for _, t := range timers {
		t.Stop()
	}
	struck.Do(func() {}) // nobody strikes any more
	s.code, s.took = cmd.ProcessState.ExitCode(), time.Since(began)
	s.killed = s.killed && s.code == -1
	s.slow = !s.killed && ctx.Err() != nil
	s.out, s.err = out.String(), stderr.String()
	s.run = first(runLine, s.err)
	return s
}

// status is what runbook status says of a run, as data.
type status struct {
	Run, Runbook, Cluster, Status string
	Steps                         []struct{ Step, Phase, Error string }
	Left                          []struct{ Target, Why string }
	Abandoned                     bool
}

func (p program) status(ctx context.Context, run string) (status, said) {
	s := p.do(ctx, nil, "runbook", "status", run, "--json")
	var st status
	if s.code == 0 && json.Unmarshal([]byte(s.out), &st) != nil {
		s.code = -1
	}
	return st, s
}

// runs are the runs of the state folder, the newest first.
func (p program) runs(ctx context.Context) (all []status) {
	s := p.do(ctx, nil, "runbook", "status", "--json")
	_ = json.Unmarshal([]byte(s.out), &all) // none yet prints null
	return all
}

// over tells whether a run has ended and needs nobody.
func (s status) over() bool {
	switch s.Status {
	case "done", "undone", "cancelled", "done, with remainders", "undone, with remainders":
		return true
	}
	return false
}

// lines collects what a process writes while others read it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func first(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// draw makes a blow for a command that is expected to take so long and to write so many entries.
func draw(r *rand.Rand, took time.Duration, entries int) *blow {
	switch r.IntN(10) {
	case 0: // while it plans, or opens the journal
		return &blow{after: time.Duration(r.Int64N(int64(took) + 1))}
	case 1, 2, 3, 4:
		return &blow{entry: 1, after: time.Duration(r.Int64N(int64(took) + 1))}
	}
	b := &blow{entry: 1 + r.IntN(max(1, entries))}
	if r.IntN(2) == 0 {
		b.after = time.Duration(r.Int64N(int64(400 * time.Millisecond)))
	}
	return b
}
