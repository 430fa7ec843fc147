// Package browser drives a headless Chromium in tests, over a pipe and in its DevTools protocol.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Browser is a headless Chromium on the other end of a pipe.
type Browser struct {
	t       *testing.T
	to      *os.File
	session string
	mu      sync.Mutex
	next    int
	waiting map[int]chan message
	events  []message
	loaded  chan struct{}
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

// New starts a browser for one test, or skips it where there is none.
func New(t *testing.T) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium on PATH")
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Everything it would ask of a network goes to a port where nobody answers.
	cmd := exec.CommandContext(t.Context(), program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-extensions", "--hide-scrollbars", "--proxy-server=127.0.0.1:9",
		"--user-data-dir="+profile(t), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirIn.Close()
	_ = theirOut.Close()
	b := &Browser{t: t, to: ourOut, waiting: map[int]chan message{}, loaded: make(chan struct{}, 16)}
	read := make(chan struct{})
	go func() { defer close(read); b.read(ourIn) }()
	t.Cleanup(func() {
		_, _ = b.send("", "Browser.close", nil)
		_ = cmd.Wait()
		_ = ourOut.Close()
		<-read
	})
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.Do(domain+".enable", nil, nil)
	}
	return b
}

// profile is a folder for a browser, whose helpers may write into it a little longer than it runs itself.
func profile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "plimsoll-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		deadline := time.Now().Add(time.Minute)
		for err := os.RemoveAll(dir); err != nil; err = os.RemoveAll(dir) {
			if time.Now().After(deadline) {
				t.Errorf("remove the browser's profile: %v", err)
				return
			}
			<-time.After(50 * time.Millisecond)
		}
	})
	return dir
}

func (b *Browser) read(from *os.File) {
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
		b.mu.Lock()
		if answer, ok := b.waiting[m.ID]; ok && m.ID != 0 {
			delete(b.waiting, m.ID)
			answer <- m
		} else {
			b.events = append(b.events, m)
		}
		b.mu.Unlock()
		if m.Method == "Page.loadEventFired" {
			b.loaded <- struct{}{}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, answer := range b.waiting {
		close(answer)
	}
	b.waiting = nil
}

func (b *Browser) send(session, method string, params any) (message, error) {
	answer := make(chan message, 1)
	b.mu.Lock()
	if b.waiting == nil {
		b.mu.Unlock()
		return message{}, fmt.Errorf("%s: the browser is gone", method)
	}
	b.next++
	id := b.next
	b.waiting[id] = answer
	b.mu.Unlock()
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
	if _, err := b.to.Write(append(raw, 0)); err != nil {
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

func (b *Browser) call(session, method string, params, result any) {
	b.t.Helper()
	m, err := b.send(session, method, params)
	if err != nil {
		b.t.Fatal(err)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
	}
}

// Do sends a command of the protocol to the page.
func (b *Browser) Do(method string, params, result any) {
	b.t.Helper()
	b.call(b.session, method, params, result)
}

// Look is how a page is looked at.
type Look struct {
	Width, Height int
	Dark          bool
	Phone         bool
	NoScripts     bool
}

// Open loads a page by its address and waits until it is loaded and its figures are drawn.
func (b *Browser) Open(url string, l Look) {
	b.t.Helper()
	b.Set(l)
	b.mu.Lock()
	b.events = nil
	b.mu.Unlock()
	b.Do("Page.navigate", map[string]any{"url": url}, nil)
	b.Loaded(l)
}

// Set looks at the page in another way.
func (b *Browser) Set(l Look) {
	b.t.Helper()
	scheme := "light"
	if l.Dark {
		scheme = "dark"
	}
	b.Do("Emulation.setDeviceMetricsOverride", map[string]any{"width": l.Width, "height": l.Height, "deviceScaleFactor": 1, "mobile": l.Phone}, nil)
	b.Do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.Do("Emulation.setScriptExecutionDisabled", map[string]any{"value": l.NoScripts}, nil)
}

// Loaded waits until the page that was asked for, or that a click asked for, is loaded.
func (b *Browser) Loaded(l Look) {
	b.t.Helper()
	select {
	case <-b.loaded:
	case <-time.After(30 * time.Second):
		b.t.Fatal("the page does not load")
	}
	if !l.NoScripts {
		b.Eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))", nil)
	}
}

// Eval runs an expression in the page and decodes what it comes to.
func (b *Browser) Eval(expression string, into any) {
	b.t.Helper()
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	b.Do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails.Exception.Description)
	}
	if into != nil {
		if err := json.Unmarshal(r.Result.Value, into); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// Complaints are the errors and warnings of the page's console, which violations of its policy are too, and requests for anything
// whose address does not begin like one of these.
func (b *Browser) Complaints(allowed ...string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, m := range b.events {
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded":
			all = append(all, m.Method+" "+string(m.Params))
		case "Runtime.consoleAPICalled":
			all = append(all, "console "+string(m.Params))
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if err := json.Unmarshal(m.Params, &p); err != nil || !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(p.Request.URL, a) }) {
				all = append(all, "request "+string(m.Params))
			}
		}
	}
	return all
}

// Picture keeps a screenshot of the whole page, or its print, in the folder that PLIMSOLL_PICTURES names, for a person to look at.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	dir := os.Getenv("PLIMSOLL_PICTURES")
	if dir == "" {
		return
	}
	method, params, file := "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, name+".png"
	if filepath.Ext(name) == ".pdf" {
		method, params, file = "Page.printToPDF", map[string]any{"preferCSSPageSize": true, "printBackground": false}, name
	}
	var r struct{ Data string }
	b.Do(method, params, &r)
	raw, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), raw, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
