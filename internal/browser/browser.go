// Package browser drives a headless Chromium in tests, over a pipe and in its DevTools protocol.
package browser

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Browser is one window of the Chromium that the tests of a package share, with cookies, a cache and settings of its own.
type Browser struct {
	t       testing.TB
	process *process
	session string
	loaded  chan struct{}

	mu     sync.Mutex
	events []message
}

// New opens a window for one test, or skips it where there is no Chromium. The package's TestMain calls Run.
func New(t testing.TB) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	p, err := running()
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		t.Skip("no chromium on PATH")
	}
	b := &Browser{t: t, process: p, loaded: make(chan struct{}, 16)}
	var window struct{ BrowserContextID string }
	b.call("", "Target.createBrowserContext", nil, &window)
	t.Cleanup(func() {
		_, _ = p.send("", "Target.disposeBrowserContext", map[string]any{"browserContextId": window.BrowserContextID}) // it may have ended
		p.forget(b.session)
	})
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": window.BrowserContextID}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	p.listen(b.session, b.hear)
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.Do(domain+".enable", nil, nil)
	}
	return b
}

// hear takes an event of the page.
func (b *Browser) hear(m message) {
	b.mu.Lock()
	b.events = append(b.events, m)
	b.mu.Unlock()
	if m.Method == "Page.loadEventFired" {
		select {
		case b.loaded <- struct{}{}:
		default: // nobody waits: the other windows go on
		}
	}
}

func (b *Browser) call(session, method string, params, result any) {
	b.t.Helper()
	m, err := b.process.send(session, method, params)
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
	b.forgetLoads()
	b.Do("Page.navigate", map[string]any{"url": url}, nil)
	b.Loaded(l)
}

// forgetLoads forgets the pages that were loaded and for which nobody has waited, the empty one of a new window among them.
func (b *Browser) forgetLoads() {
	for {
		select {
		case <-b.loaded:
		default:
			return
		}
	}
}

// Press presses the mouse at a place of the page, as a person does. Loaded waits for the page that comes of it.
func (b *Browser) Press(x, y float64) {
	b.t.Helper()
	b.forgetLoads()
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
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

// Traffic is how many requests the page that is open has made since it was asked for, its streams among them, and how many bytes of
// bodies came.
func (b *Browser) Traffic() (requests, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.events {
		switch m.Method {
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if json.Unmarshal(m.Params, &p) == nil && !strings.HasPrefix(p.Request.URL, "data:") {
				requests++
			}
		case "Network.dataReceived":
			var p struct{ DataLength int }
			if json.Unmarshal(m.Params, &p) == nil {
				bytes += p.DataLength
			}
		}
	}
	return requests, bytes
}

// Pictures is the folder that PLIMSOLL_PICTURES names; "": nobody asks for pictures.
func Pictures() string { return os.Getenv("PLIMSOLL_PICTURES") }

// Picture keeps a screenshot of the whole page, or its print, in the folder of Pictures, for a person to look at.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	dir := Pictures()
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
