package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The password of a cluster in the inventory stands on no page, in no stream, in no JSON and in no log, neither where the server refuses it nor where nobody answers.
func TestServeShowsNoPasswordOfTheInventory(t *testing.T) {
	program, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	canaries := map[string]string{"the password in the environment": "canary-env-7f3a", "that in a file": "canary-file-91c2", "that of a command": "canary-command-55d0"}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("replication", canaries["that in a file"]+"\n")
	write("plimsoll.yaml", `clusters:
  orders:
    engine: mysql
    environment: staging
    user: app
    password: {env: ORDERS_PASSWORD}
    replication: {user: repl, password: {file: replication}}
    nodes: [{name: n1, address: "`+refusing(t)+`"}]
  gone:
    engine: mysql
    environment: staging
    user: app
    password: {command: [echo, `+canaries["that of a command"]+`]}
    nodes: [{name: n1, address: "127.0.0.1:1"}]
`)
	var logged bytes.Buffer
	serve := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0")
	serve.Dir, serve.Stderr = folder, &logged
	serve.Env = append(os.Environ(), "PLIMSOLL_HOME="+folder+"/home", "ORDERS_PASSWORD="+canaries["the password in the environment"])
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("it says no address: %v, %s", err, &logged)
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Timeout: 30 * time.Second}
	base := address.Scheme + "://" + address.Host
	var all strings.Builder
	const stream = "text/event-stream"
	do := func(path, as string, form url.Values) string {
		t.Helper()
		method, body := http.MethodGet, io.Reader(http.NoBody)
		if form != nil {
			method, body = http.MethodPost, strings.NewReader(form.Encode())
		}
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", as)
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }() // it was only read
		var text []byte
		if as != stream {
			text, _ = io.ReadAll(answer.Body) // what came of it is looked at
		}
		for in := bufio.NewReader(answer.Body); as == stream && !bytes.HasSuffix(text, []byte("\n\n")); { // of a stream its first event
			line, err := in.ReadBytes('\n')
			if text = append(text, line...); err != nil {
				t.Errorf("the stream %s ends: %v", path, err)
				break
			}
		}
		all.Write(text)
		return string(text)
	}
	do("/enter", "text/html", url.Values{"code": {address.Query().Get("code")}})
	for end := time.Now().Add(30 * time.Second); ; { // the password was sent, and refused
		if fleet := do("/fleet", "text/html", nil); strings.Contains(fleet, "s-refused") && strings.Contains(fleet, "s-down") {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the fleet shows no refused login, or nobody who does not answer: %s", fleet)
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, cluster := range []string{"orders", "gone"} {
		plan := url.Values{"runbook": {"mysql/set-variable"}, "cluster": {cluster}, "input-name": {"max_connections"}, "input-value": {"500"}}
		if text := do("/plan", "text/html", plan); !strings.Contains(text, cluster) {
			t.Errorf("planning on %s says: %s", cluster, text)
		}
		do("/advice/"+cluster, "text/html", url.Values{"class": {"db.m5.large"}})
	}
	pages := []string{"/", "/fleet", "/fleet/orders/n1", "/fleet/gone/n1", "/alerts", "/advice", "/advice/orders", "/advice/gone", "/runs", "/trials", "/runbooks", "/runbooks/mysql/set-variable?cluster=orders", "/metrics", "/api/v1/alerts"}
	for _, path := range pages {
		do(path, "text/html", nil)
		do(path, "application/json", nil)
	}
	for _, path := range pages[:8] {
		if text := do("/live?page="+url.QueryEscape(path), stream, nil); !strings.HasPrefix(text, "event: part") {
			t.Errorf("the stream of %s begins with %q", path, text)
		}
	}
	if err := serve.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = serve.Wait() // it was interrupted
	all.WriteString(logged.String())
	err = filepath.WalkDir(folder+"/home", func(path string, file os.DirEntry, err error) error { // nor in what it keeps
		if err != nil || !file.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for what, canary := range canaries {
		if at := strings.Index(all.String(), canary); at >= 0 {
			t.Errorf("%s is shown: …%s", what, all.String()[max(at-200, 0):at+len(canary)])
		}
	}
}

// refusing is the address of what speaks MySQL's protocol as far as it takes to refuse a login.
func refusing(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // the test has ended
	packet := func(number byte, body string) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))|uint32(number)<<24), body...)
	}
	greeting := packet(0, "\x0a10.11.6-MariaDB\x00"+"\x01\x00\x00\x00"+"12345678\x00"+"\x00\xa2"+"\x2d"+"\x02\x00"+"\x08\x00"+"\x15"+strings.Repeat("\x00", 10)+"123456789012\x00"+"mysql_native_password\x00")
	refusal := packet(2, "\xff\x15\x04#28000Access denied for user 'app'@'127.0.0.1' (using password: YES)")
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()               // it was refused
				_ = conn.SetDeadline(time.Now().Add(time.Minute)) // of a TCP connection it can
				_, _ = conn.Write(greeting)                       // who is gone reads nothing
				if n, err := conn.Read(make([]byte, 4096)); n > 0 && err == nil {
					_, _ = conn.Write(refusal)
				}
			}()
		}
	}()
	return listener.Addr().String()
}
