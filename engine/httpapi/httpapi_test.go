package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/enginetest"
)

func TestConformance(t *testing.T) {
	_, server := newShop(t)
	server.Start()
	db, _ := open(t, server)
	enginetest.RunRequests(t, enginetest.Harness{
		Engine: Engine{}, Target: targetOf(server), Database: db, Allocations: 100, // the server's own, which is in this process
		Texts: enginetest.Texts{
			Create: "PUT /table", Drop: "DELETE /table",
			Insert:  "PUT /rows/?\n\n" + `{"n": ?, "f": ?, "s": ?, "b": ?}`,
			Select:  "GET /rows/? 200,404",
			All:     "GET /rows",
			Missing: "GET /nothing",
		},
	})
}

// A request and its answer allocate nothing.
func TestAllocations(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { // always the same answer, without a thought
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		answer := []byte("HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1,2]\r\n0\r\n\r\n")
		buffer := make([]byte, 4096)
		for {
			if _, err := conn.Read(buffer); err != nil {
				return
			}
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	})
	checked, err := newTarget(engine.Target{Addresses: []string{listener.Addr().String()}, User: user, Password: password}, false)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(checked)
	defer func() { _ = s.Close() }()
	p, err := s.Prepare(t.Context(), "POST /rows/?\n\n"+`{"id": ?, "name": "<?>"}`)
	if err != nil {
		t.Fatal(err)
	}
	args := []engine.Value{engine.Int(1), engine.Float(2.5), engine.Chars([]byte("\"a\""))}
	for _, keep := range []bool{false, true} {
		r := engine.Result{Keep: keep}
		got := testing.AllocsPerRun(500, func() {
			if err := p.Exec(t.Context(), args, &r); err != nil || r.Rows != 1 {
				t.Error(err)
			}
		})
		if got > 0 {
			t.Errorf("%v allocations with Keep = %v", got, keep)
		}
	}
}

// Over TLS it is the same, if the certificate is one that is trusted.
func TestTLS(t *testing.T) {
	_, server := newShop(t)
	server.StartTLS()
	target := targetOf(server)
	if _, err := (Engine{Secure: true}).Open(t.Context(), target); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody's: %v", err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	target.Options = map[string]string{"tls-ca": file}
	db, err := Engine{Secure: true}.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for range 3 {
		if err := s.Exec(t.Context(), "PUT /table", nil); err != nil {
			t.Fatal(err)
		}
	}
	server.CloseClientConnections()
	s.(*session).used = time.Time{} // as if it had been idle for long
	if err := s.Exec(t.Context(), "PUT /table", nil); err != nil {
		t.Errorf("after the service hung up: %v", err)
	}
}

// A parameter is written as its place asks, and nothing that it holds gets out of its place.
func TestParametersStayInTheirPlace(t *testing.T) {
	shop, server := newShop(t)
	server.Start()
	_, s := open(t, server)
	nasty := engine.Chars([]byte("a/b?c=d&e \"q\" \\ \n\x01\xff é"))
	p, err := s.Prepare(t.Context(), "PUT /x/?/y??page=?&size=10 200,404\nX-Who: <?>\n\n"+
		`{"s": ?, "in": "<?> ??", "n": ?, "f": ?, "nan": ?, "b": ?, "none": ?, "escaped \" ": ?}`)
	if err != nil {
		t.Fatal(err)
	}
	args := []engine.Value{
		nasty, nasty, engine.Chars([]byte("clerk")),
		nasty, nasty, engine.Int(math.MinInt64), engine.Float(1e-7), engine.Float(math.NaN()), engine.Blob([]byte{0, 255}), {}, engine.Int(1),
	}
	if err := p.Exec(t.Context(), args, nil); err != nil {
		t.Fatal(err)
	}
	got := shop.asked()
	if want := "/api/v1/x/a%2Fb%3Fc%3Dd%26e%20%22q%22%20%5C%20%0A%01%FF%20%C3%A9/y"; got.path != want {
		t.Errorf("path %s, want %s", got.path, want)
	}
	if want := "page=a%2Fb%3Fc%3Dd%26e%20%22q%22%20%5C%20%0A%01%FF%20%C3%A9&size=10"; got.query != want {
		t.Errorf("query %s, want %s", got.query, want)
	}
	if got.header.Get("X-Who") != "<clerk>" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", got.header)
	}
	var body map[string]any
	d := json.NewDecoder(strings.NewReader(got.body))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		t.Fatalf("%v: %s", err, got.body)
	}
	text := "a/b?c=d&e \"q\" \\ \n\x01\uFFFD é"
	for key, want := range map[string]any{
		"s": text, "in": "<" + text + "> ?", "n": json.Number("-9223372036854775808"), "f": json.Number("1e-07"), "nan": nil,
		"b": "AP8=", "none": nil, `escaped " `: json.Number("1"),
	} {
		if body[key] != want {
			t.Errorf("%s is %#v, want %#v", key, body[key], want)
		}
	}
	args[2] = engine.Chars([]byte("x\r\nAuthorization: other"))
	if err := p.Exec(t.Context(), args, nil); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a header with a line break: %v", err)
	}
	if err := s.Exec(t.Context(), "PUT /table", nil); err != nil {
		t.Errorf("after a request that was not sent: %v", err)
	}
}

func TestStatusesAreClasses(t *testing.T) {
	_, server := newShop(t)
	server.Start()
	_, s := open(t, server)
	for status, want := range map[int]engine.Class{
		401: engine.Denied, 403: engine.Denied, 404: engine.Missing, 408: engine.Timeout, 409: engine.Conflict, 418: engine.Other,
		429: engine.Overloaded, 500: engine.Other, 502: engine.Unavailable, 503: engine.Unavailable, 504: engine.Timeout, 507: engine.Full,
	} {
		err := s.Exec(t.Context(), "GET /status/"+strconv.Itoa(status), nil)
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != want || e.Lost || e.Code != strconv.Itoa(status) || !strings.HasSuffix(e.Text, "for a reason") {
			t.Errorf("%d: %v of class %s, want %s", status, err, engine.ClassOf(err), want)
		}
		if err := s.Exec(t.Context(), "GET /status/"+strconv.Itoa(status)+" 200,"+strconv.Itoa(status), nil); err != nil {
			t.Errorf("%d, which is fine: %v", status, err)
		}
	}
}

// Answers end in several ways; each leaves the session where the next begins.
func TestAnswersOfEveryForm(t *testing.T) {
	_, server := newShop(t)
	server.Start()
	_, s := open(t, server)
	if err := s.Exec(t.Context(), "PUT /table", nil); err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte("0123456789"), 100_000)
	put, err := s.Prepare(t.Context(), "PUT /rows/long\nContent-Type: text/plain\n\n?")
	if err != nil {
		t.Fatal(err)
	}
	if err := put.Exec(t.Context(), []engine.Value{engine.Chars(long)}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ request, want string }{
		{"GET /rows", "1 rows\n1 rows\n1 rows\n"},
		{"GET /rows/long", string(long)},
		{"HEAD /rows/long", ""},
		{"GET /close", "bye"},
		{"GET /early", "late"},
		{"PUT /table", ""},
		{"GET /rows", "1 rows\n1 rows\n1 rows\n"},
	} {
		r := engine.Result{Keep: true}
		if err := s.Exec(t.Context(), c.request, &r); err != nil {
			t.Fatalf("%s: %v", c.request, err)
		}
		got := ""
		if r.Rows == 1 {
			got = string(r.At(0, 0).Data)
		}
		if got != c.want {
			t.Errorf("%s: %.50q, want %.50q", c.request, got, c.want)
		}
	}
}

// A service that hangs up on an idle connection costs no operation.
func TestIdleConnectionIsOpenedAnew(t *testing.T) {
	_, server := newShop(t)
	server.Start()
	_, s := open(t, server)
	for range 3 {
		server.CloseClientConnections()
		s.(*session).used = time.Time{}
		if err := s.Exec(t.Context(), "PUT /table", nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBearer(t *testing.T) {
	shop, server := newShop(t)
	server.Start()
	target := targetOf(server)
	target.Options, target.Password = map[string]string{"auth": "bearer"}, "token"
	if _, err := (Engine{}).Open(t.Context(), target); engine.ClassOf(err) != engine.Denied || strings.Contains(err.Error(), "token") {
		t.Errorf("%v", err)
	}
	if got := shop.asked().header.Get("Authorization"); got != "Bearer token" {
		t.Errorf("sent %q", got)
	}
}

func TestRefusedTargets(t *testing.T) {
	for want, change := range map[string]func(*engine.Target){
		"2 addresses":                   func(t *engine.Target) { t.Addresses = []string{"a", "b"} },
		"did you mean tls-ca?":          func(t *engine.Target) { t.Options = map[string]string{"tlsca": "x"} },
		`auth "digest"`:                 func(t *engine.Target) { t.Options = map[string]string{"auth": "digest"} },
		"needs a password":              func(t *engine.Target) { t.Options = map[string]string{"auth": "bearer"} },
		"the user contains a colon":     func(t *engine.Target) { t.User = "a:b" },
		"the path contains a blank":     func(t *engine.Target) { t.Namespace = "a b" },
		"the token contains characters": func(t *engine.Target) { t.Options = map[string]string{"auth": "bearer"}; t.Password = "a\nb" },
	} {
		target := engine.Target{Addresses: []string{"127.0.0.1:1"}}
		change(&target)
		if _, err := (Engine{}).Open(t.Context(), target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "METHOD /path",
		"GET":                          "METHOD /path",
		"GET rows":                     "METHOD /path",
		"G(T /rows":                    "METHOD /path",
		"GET /a b c":                   "METHOD /path",
		"GET /rows 20":                 `"20" is not a status`,
		"GET /größe":                   "non-ASCII",
		"GET /a#b":                     "non-ASCII",
		"GET /\nHost: other":           "sets it from the target",
		"GET /\ncontent-length: 5":     "sets it from the target",
		"GET /\nno header":             "expected Name: value",
		"GET /\nX-A: b\rAuthorization": "expected Name: value",
	} {
		if _, err := parseTemplate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Whatever a server says ends in an answer or an error, soon.
func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	f.Add("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nA: b\r\n\r\n")
	f.Add("HTTP/1.0 500 \r\nConnection: keep-alive, close\r\n\r\nto the end")
	f.Fuzz(func(t *testing.T, said string) {
		var a answer
		r := engine.Result{Keep: true}
		err := a.read(bufio.NewReaderSize(strings.NewReader(said), 64), "GET", &r)
		if err == nil && (a.status < 200 || a.status > 999 || len(a.begin) > maxBegin) {
			t.Errorf("%+v", a)
		}
	})
}
