// Package lookaside puts a read cache in front of a database, as services do: ask the cache, and where it has no answer the database,
// whose answer is then kept for a while. It is not told of writes: an answer may be as old as it is kept.
package lookaside

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"plimsoll/engine"
)

// Place is where a Valkey or Redis answers.
type Place struct {
	Address  string
	Password engine.Secret
}

// patience is how long a cache may take to answer; the database is asked instead then.
const patience = time.Second

// client is a connection to a cache, in the protocol RESP2. It belongs to one goroutine.
type client struct {
	at     Place
	conn   net.Conn // nil: lost
	in     *bufio.Reader
	out    []byte
	tried  time.Time // to connect
	answer []byte
}

// errRefused is what a cache said instead of an answer.
type errRefused string

func (e errRefused) Error() string { return "the cache returned an error: " + string(e) }

// connect connects, at most once a second.
func (c *client) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	if time.Since(c.tried) < time.Second {
		return net.ErrClosed
	}
	c.tried = time.Now()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", c.at.Address)
	if err != nil {
		return fmt.Errorf("connect to the cache: %w", err)
	}
	c.conn, c.in = conn, bufio.NewReader(conn)
	if c.at.Password != "" {
		if _, _, err := c.ask("AUTH", []byte(c.at.Password)); err != nil {
			c.lose()
			return c.at.Password.Redact(err)
		}
	}
	return nil
}

func (c *client) lose() {
	if c.conn != nil {
		_ = c.conn.Close() // it is of no use any more
		c.conn = nil
	}
}

// get returns what is kept under a key, valid until the next call.
func (c *client) get(ctx context.Context, key []byte) (value []byte, there bool, err error) {
	if err := c.connect(ctx); err != nil {
		return nil, false, err
	}
	value, there, err = c.ask("GET", key)
	return value, there, c.broken(err)
}

// set keeps a value for a while.
func (c *client) set(ctx context.Context, key, value []byte, keep time.Duration) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	_, _, err := c.ask("SET", key, value, []byte("PX"), strconv.AppendInt(nil, keep.Milliseconds(), 10))
	return c.broken(err)
}

// broken gives up the connection after any error but a refusal, which leaves it in order.
func (c *client) broken(err error) error {
	var refused errRefused
	if err != nil && !errors.As(err, &refused) {
		c.lose()
	}
	return err
}

// ask sends a command and reads its answer.
func (c *client) ask(command string, args ...[]byte) (value []byte, there bool, err error) {
	c.out = append(append(append(c.out[:0], '*'), strconv.Itoa(len(args)+1)...), "\r\n"...)
	c.out = bulk(c.out, []byte(command))
	for _, a := range args {
		c.out = bulk(c.out, a)
	}
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, false, err
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, false, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return nil, false, err
	}
	if len(line) < 3 {
		return nil, false, io.ErrUnexpectedEOF
	}
	text := string(line[1 : len(line)-2])
	switch line[0] {
	case '+', ':':
		return nil, true, nil
	case '-':
		return nil, false, errRefused(text)
	case '$':
		n, err := strconv.Atoi(text)
		const most = 512 << 20 // of any value, by the protocol
		if err != nil || n > most {
			return nil, false, fmt.Errorf("the cache answered %q", text)
		}
		if n < 0 {
			return nil, false, nil
		}
		if cap(c.answer) < n+2 {
			c.answer = make([]byte, n+2)
		}
		_, err = io.ReadFull(c.in, c.answer[:n+2])
		return c.answer[:n], true, err
	}
	return nil, false, fmt.Errorf("the cache answered %q", line)
}

// bulk appends a text with its length.
func bulk(out, text []byte) []byte {
	out = append(strconv.AppendInt(append(out, '$'), int64(len(text)), 10), "\r\n"...)
	return append(append(out, text...), "\r\n"...)
}
