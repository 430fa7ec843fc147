package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Who reads what is kept of a session, in a dump of the memory say, cannot enter with it.
func TestASessionIsKeptByItsHash(t *testing.T) {
	s := newSessions(time.Now)
	secret := s.begin(Person{Name: "ann", Role: View})
	if len(s.all) != 1 || s.all[sha256.Sum256([]byte(secret))] == nil {
		t.Fatal("the session is not found by the hash of its secret")
	}
	for key, one := range s.all {
		if bytes.Contains(key[:], []byte(secret)) || bytes.Contains(fmt.Appendf(nil, "%+v", *one), []byte(secret)) {
			t.Error("the secret itself is kept")
		}
	}
	if s.find(secret) == nil || s.find(secret+"x") != nil {
		t.Error("the secret finds no session, or another one does")
	}
}

// To try the name of somebody who is no user takes as long as to try a user's.
func TestThePasswordOfAnUnknownUserIsComparedToo(t *testing.T) {
	if cost, err := bcrypt.Cost([]byte(nobodysHash)); err != nil || cost != 10 {
		t.Errorf("the hash of nobody costs %d, %v", cost, err)
	}
	var p passwords
	if p.match("", "a guess") {
		t.Error("somebody without a hash is let in")
	}
	key := sha256.Sum256([]byte(nobodysHash + "\x00a guess"))
	if same, compared := p.known[key]; !compared || same {
		t.Errorf("it was compared: %t, and was the same: %t", compared, same)
	}
	p.known[key] = true
	if p.match("", "a guess") {
		t.Error("who knows the password of nobody is let in")
	}
}

// However many try at once, one password is compared at a time: each takes a core.
func TestOnePasswordIsComparedAtATime(t *testing.T) {
	h, err := bcrypt.GenerateFromPassword([]byte("a password"), 11)
	if err != nil {
		t.Fatal(err)
	}
	var p passwords
	compared := make(chan bool)
	go func() { compared <- p.match(string(h), "a password") }()
	taken := false
	for {
		if !p.mu.TryLock() {
			taken = true
			runtime.Gosched()
			continue
		}
		finished := len(p.known) == 1
		p.mu.Unlock()
		if finished {
			break
		}
		if taken {
			t.Fatal("while one password is compared another one could be")
		}
		runtime.Gosched()
	}
	if !taken {
		t.Error("nobody had to wait while the password was compared")
	}
	if !<-compared {
		t.Error("the right password is refused")
	}
}

// Over a Unix socket a proxy needs no address: who may open the socket may name people. No name of the page is asked for either.
func TestAProxyOverAUnixSocketNamesThePerson(t *testing.T) {
	folder, err := os.MkdirTemp("", "socket") // t.TempDir() is too long for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	config, socket := filepath.Join(folder, "web.yml"), filepath.Join(folder, "page.sock")
	if err := os.WriteFile(config, []byte("roles: {otto: operate}\nproxy: {from: [192.0.2.1], user_header: X-User}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := New(Options{Listen: socket, Config: config, Instance: "test", Owner: "ann@test"})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := PersonOf(r.Context())
		_, _ = fmt.Fprintf(w, "%s, %s, by %s", p.Name, p.Role, p.Method)
	})
	strangers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: gate.Guard(pages, func(string) bool { return false }, strangers)}}
	server.Start()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	t.Cleanup(client.CloseIdleConnections)
	for user, want := range map[string]string{"otto": "200 otto, operate, by proxy", "vera": "200 vera, view, by proxy", "": "401 "} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://any.example/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			r.Header.Set("X-User", user)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if got := fmt.Sprintf("%d %s", answer.StatusCode, text); err != nil || got != want {
			t.Errorf("%q is answered %s, %v; expected %s", user, got, err, want)
		}
	}
}
