package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// process is a headless Chromium on the other end of a pipe. To start it takes longer than most tests, so the tests of a package share one.
type process struct {
	cmd     *exec.Cmd
	to      *os.File
	profile string
	ended   chan struct{} // closed when it says nothing any more

	mu       sync.Mutex
	next     int
	waiting  map[int]chan message
	sessions map[string]func(message)
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
	Session string `json:"sessionId,omitempty"`
}

// one is the process that is shared.
var one struct {
	mu     sync.Mutex
	tested bool // Run is under way
	now    *process
}

// Run runs a package's tests, of which those that call New share one Chromium, and ends it. It returns the exit code, for TestMain.
func Run(m *testing.M) int {
	one.mu.Lock()
	one.tested = true
	one.mu.Unlock()
	code := m.Run()
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.now == nil {
		return code
	}
	if err := one.now.end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// running returns the process, which is started when it is not there or has died; nil where there is no Chromium.
func running() (*process, error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if !one.tested {
		return nil, errors.New("open a browser: the TestMain of this package must call browser.Run")
	}
	if one.now != nil {
		select {
		case <-one.now.ended:
			if err := one.now.end(); err != nil {
				return nil, err
			}
			one.now = nil
		default:
			return one.now, nil
		}
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			one.now, err = start(path)
			return one.now, err
		}
	}
	return nil, nil
}

func start(program string) (*process, error) {
	profile, err := os.MkdirTemp("", "plimsoll-browser-*")
	if err != nil {
		return nil, err
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// Everything it would ask of a network goes to a port where nobody answers.
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-extensions", "--hide-scrollbars", "--proxy-server=127.0.0.1:9", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	p := &process{cmd: cmd, to: ourOut, profile: profile, ended: make(chan struct{}), waiting: map[int]chan message{}, sessions: map[string]func(message){}}
	go p.read(ourIn)
	return p, nil
}

// end closes the browser and removes its profile, into which its helpers may write a little longer than it runs itself.
func (p *process) end() error {
	_, _ = p.send("", "Browser.close", nil) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill() // it may have ended
	}
	_ = p.cmd.Wait() // how it ended tells nothing
	_ = p.to.Close()
	<-p.ended
	deadline := time.Now().Add(time.Minute)
	for {
		err := os.RemoveAll(p.profile)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-time.After(50 * time.Millisecond)
	}
}

// read takes what the browser says: answers to commands, and events of its windows.
func (p *process) read(from *os.File) {
	defer close(p.ended)
	defer from.Close() //nolint:errcheck // it was only read
	r := bufio.NewReader(from)
	for {
		raw, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		p.mu.Lock()
		answer, asked := p.waiting[m.ID]
		delete(p.waiting, m.ID)
		hear := p.sessions[m.Session]
		p.mu.Unlock()
		switch {
		case asked && m.ID != 0:
			answer <- m
		case hear != nil:
			hear(m)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, answer := range p.waiting {
		close(answer)
	}
	p.waiting = nil
}

// listen has f called with the events of a session, until it is forgotten.
func (p *process) listen(session string, f func(message)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[session] = f
}

func (p *process) forget(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, session)
}

func (p *process) send(session, method string, params any) (message, error) {
	answer := make(chan message, 1)
	p.mu.Lock()
	if p.waiting == nil {
		p.mu.Unlock()
		return message{}, fmt.Errorf("%s: the browser is gone", method)
	}
	p.next++
	id := p.next
	p.waiting[id] = answer
	p.mu.Unlock()
	request := map[string]any{"id": id, "method": method}
	if params != nil {
		request["params"] = params
	}
	if session != "" {
		request["sessionId"] = session
	}
	raw, err := json.Marshal(request)
	if err != nil {
		return message{}, err
	}
	if _, err := p.to.Write(append(raw, 0)); err != nil {
		return message{}, err
	}
	m, ok := <-answer
	switch {
	case !ok:
		return m, fmt.Errorf("%s: the browser ended", method)
	case m.Error != nil:
		return m, fmt.Errorf("%s: %s", method, m.Error.Message)
	}
	return m, nil
}
