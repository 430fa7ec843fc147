//go:build linux

package vhost

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// message is a request of the kernel, with the files it came with.
type message struct {
	request uint32
	body    []byte
	files   []int
}

const (
	headSize = 12 // request, flags, size of the body
	mostBody = 4096
	mostFile = 8
	protocol = 1 // version, in the flags
	isReply  = 1 << 2
)

func receive(conn *net.UnixConn) (message, error) {
	head, files := make([]byte, headSize), make([]byte, unix.CmsgSpace(4*mostFile))
	n, filesLength, _, _, err := conn.ReadMsgUnix(head, files)
	if err != nil {
		return message{}, err
	}
	if n == 0 {
		return message{}, io.EOF
	}
	m := message{}
	if m.files, err = filesOf(files[:filesLength]); err != nil {
		return m, err
	}
	if _, err := io.ReadFull(conn, head[n:]); err != nil {
		return m, err
	}
	m.request = binary.LittleEndian.Uint32(head)
	size := binary.LittleEndian.Uint32(head[8:])
	if size > mostBody {
		return m, fmt.Errorf("a message of %d bytes", size)
	}
	m.body = make([]byte, size)
	_, err = io.ReadFull(conn, m.body)
	return m, err
}

func filesOf(control []byte) (all []int, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		files, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return all, err
		}
		all = append(all, files...)
	}
	return all, nil
}

func send(conn *net.UnixConn, request uint32, body []byte) error {
	le := binary.LittleEndian
	out := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, request), protocol|isReply), uint32(len(body)))
	_, err := conn.Write(append(out, body...))
	return err
}

// take hands over a file that came with the message, -1 if it did not. The others are closed.
func (m *message) take(i int) int {
	if i >= len(m.files) {
		return -1
	}
	fd := m.files[i]
	m.files[i] = -1
	return fd
}

// word is eight bytes of the body, zeroes where there is none.
func (m *message) word(at int) []byte {
	var w [8]byte
	if at < len(m.body) {
		copy(w[:], m.body[at:])
	}
	return w[:]
}
