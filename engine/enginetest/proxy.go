package enginetest

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// proxy stands between a client and a server, where it can withhold what the server says and break connections.
type proxy struct {
	listener net.Listener
	server   string
	work     sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	asked chan struct{} // not nil: frozen; takes a token when a client asked something
}

// between starts a proxy for a server, which ends with the test.
func between(t *testing.T, server string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{listener: listener, server: server}
	p.work.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
		p.work.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// freeze withholds all requests from now on. What it returns is readable when there was one.
func (p *proxy) freeze() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = make(chan struct{}, 1)
	return p.asked
}

// cut breaks all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		network := "tcp"
		if strings.HasPrefix(p.server, "/") {
			network = "unix"
		}
		server, err := net.Dial(network, p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.work.Go(func() {
			_, _ = io.Copy(client, server)
			_ = client.Close()
		})
		p.work.Go(func() {
			p.forward(server, client)
			_ = server.Close()
		})
	}
}

// forward passes requests on, unless the proxy is frozen.
func (p *proxy) forward(server io.Writer, client io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		asked := p.asked
		p.mu.Unlock()
		if asked != nil {
			select {
			case asked <- struct{}{}:
			default: // there is a token already
			}
			continue
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}
