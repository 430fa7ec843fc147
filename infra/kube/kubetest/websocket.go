package kubetest

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Config is a kubeconfig by which a real kubectl reaches the stand-in, over the loopback. Its one context is called stand-in.
func (c *Cluster) Config(t testing.TB) (path string) {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(func() { c.end(); server.CloseClientConnections(); server.Close() })
	path = filepath.Join(t.TempDir(), "config")
	text := `{"apiVersion": "v1", "kind": "Config", "current-context": "stand-in", "clusters": [{"name": "it", "cluster": {"server": "` + server.URL + `"}}],
"contexts": [{"name": "stand-in", "context": {"cluster": "it", "user": "me"}}], "users": [{"name": "me", "user": {}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The channels of v5.channel.k8s.io, each the first byte of a message.
const (
	protocol     = "v5.channel.k8s.io"
	stdinChannel = iota - 1
	stdoutChannel
	stderrChannel
	errorChannel
	closeChannel = 255
)

// The kinds of frames of RFC 6455.
const (
	binaryFrame = 2
	closeFrame  = 8
	pingFrame   = 9
	pongFrame   = 10
)

// serveExec is exec over a WebSocket, as kubectl speaks it since 1.31.
func (c *Cluster) serveExec(w http.ResponseWriter, r *http.Request) {
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // api v1 namespaces NS pods POD exec
	if len(words) != 7 || r.Header.Get("Sec-WebSocket-Protocol") != protocol {
		http.Error(w, "expected an exec by "+protocol, http.StatusBadRequest)
		return
	}
	l, err := c.start(words[3], words[5], r.URL.Query()["command"])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]), protocol)
	s := &socket{conn: conn, from: buffered.Reader}
	c.lines.mu.Lock()
	l.hangUp = func() { _ = conn.Close() }
	c.lines.mu.Unlock()
	c.lines.all.Go(func() { s.receive(l.stdin) })
	c.carry(l, s, l.stdout)
	status := c.wait(l)
	answer := map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success"}
	if status != 0 {
		if l.stderr.Len() > 0 {
			_ = s.message(stderrChannel, l.stderr.Bytes())
		}
		answer["status"], answer["reason"] = "Failure", "NonZeroExitCode"
		answer["message"] = "command terminated with non-zero exit code"
		answer["details"] = map[string]any{"causes": []any{map[string]any{"reason": "ExitCode", "message": strconv.Itoa(status)}}}
	}
	body, err := json.Marshal(answer)
	if err == nil {
		_ = s.message(errorChannel, body)
		_ = s.frame(closeFrame, []byte{3, 232}) // 1000: as usual
	}
}

// socket is a server's end of a WebSocket.
type socket struct {
	conn net.Conn
	from *bufio.Reader
	mu   sync.Mutex
}

// Write sends the process's stdout.
func (s *socket) Write(p []byte) (int, error) { return len(p), s.message(stdoutChannel, p) }

func (s *socket) message(channel byte, body []byte) error {
	return s.frame(binaryFrame, append([]byte{channel}, body...))
}

func (s *socket) frame(kind byte, body []byte) error {
	head := []byte{0x80 | kind}
	switch n := len(body); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Write(append(head, body...))
	return err
}

// receive hands stdin on until it or the connection ends; then it closes it.
func (s *socket) receive(stdin io.WriteCloser) {
	defer func() { _ = stdin.Close() }()
	channel := byte(stdinChannel)
	for {
		kind, first, body, err := s.next()
		switch {
		case err != nil, kind == closeFrame:
			return
		case kind == pingFrame:
			_ = s.frame(pongFrame, body)
			continue
		case kind == pongFrame, len(body) == 0:
			continue
		}
		if first {
			channel, body = body[0], body[1:]
		}
		if channel == closeChannel {
			return // stdin is the only one that is closed from there
		}
		if channel == stdinChannel {
			if _, err := stdin.Write(body); err != nil {
				return
			}
		}
	}
}

// next reads a frame; first says that it begins a message.
func (s *socket) next() (kind byte, first bool, body []byte, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(s.from, head); err != nil {
		return 0, false, nil, err
	}
	kind, first = head[0]&0x0f, head[0]&0x0f != 0
	n := uint64(head[1] & 0x7f)
	if n >= 126 {
		long := make([]byte, map[uint64]int{126: 2, 127: 8}[n])
		if _, err := io.ReadFull(s.from, long); err != nil {
			return 0, false, nil, err
		}
		n = 0
		for _, b := range long {
			n = n<<8 | uint64(b)
		}
	}
	mask := make([]byte, 4)
	if _, err := io.ReadFull(s.from, mask); err != nil {
		return 0, false, nil, err
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(s.from, body); err != nil {
		return 0, false, nil, err
	}
	for i := range body {
		body[i] ^= mask[i%4]
	}
	return kind, first, body, nil
}
