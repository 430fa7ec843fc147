package mysql

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"

	"plimsoll/engine"
)

// handshake opens a session on a fresh connection: greeting, TLS if wanted, proof of who we are.
func handshake(ctx context.Context, conn net.Conn, t target, address string) (*session, error) {
	w := newStream(conn)
	packet, err := w.packet()
	switch {
	case errors.Is(err, errOrder): // the first packet of all: these bytes are no packet
		return nil, errNotMySQL
	case err != nil:
		return nil, err
	}
	if len(packet) > 0 && packet[0] == markError {
		return nil, serverError(packet) // too many connections, host blocked
	}
	g, err := parseGreeting(packet)
	if err != nil {
		return nil, err
	}

	secure, err := t.encryption.wanted(g, conn)
	if err != nil {
		return nil, err
	}
	capabilities, maria := g.wanted(t.Namespace, secure)
	if secure {
		w.out = appendLoginHead(w.out[:4], capabilities, maria)
		if err := w.post(); err != nil {
			return nil, err
		}
		seq := w.seq
		encrypted, err := t.encryption.start(ctx, conn, address)
		if err != nil {
			return nil, err
		}
		w = newStream(encrypted)
		w.seq = seq
	}

	l := &login{
		password: string(t.Password),
		private:  secure || conn.RemoteAddr().Network() == "unix",
		plugin:   g.plugin,
		scramble: g.scramble,
	}
	if err := authenticate(w, l, t, capabilities, maria); err != nil {
		return nil, err
	}
	s := newSession(w, conn)
	s.id = g.connection
	s.deprecateEOF = capabilities&capDeprecateEOF != 0
	s.cacheMetadata = maria&mariaCacheMetadata != 0
	return s, nil
}

// authenticate sends the login and goes through the dialogue that the server's method asks for.
func authenticate(w *stream, l *login, t target, capabilities, maria uint32) error {
	proof, err := l.first()
	if err != nil { // a method we do not know: the account's own may be another, so let the server ask for it
		l.plugin = pluginNative
		if proof, err = l.first(); err != nil {
			return err
		}
	}
	w.out = appendLoginHead(w.out[:4], capabilities, maria)
	w.out = append(append(w.out, t.User...), 0)
	w.out = appendText(w.out, proof)
	if t.Namespace != "" {
		w.out = append(append(w.out, t.Namespace...), 0)
	}
	w.out = append(append(w.out, l.plugin...), 0)
	if capabilities&capConnectAttributes != 0 {
		w.out = appendText(w.out, appendText(appendText(nil, "program_name"), "plimsoll"))
	}

	for {
		if err := w.send(); err != nil {
			return err
		}
		for waiting := true; waiting; {
			packet, err := w.packet()
			if err != nil {
				return err
			}
			if len(packet) == 0 {
				return errMalformed
			}
			var answer []byte
			switch packet[0] {
			case markOK:
				return nil
			case markError:
				return serverError(packet)
			case markEOF:
				if len(packet) == 1 {
					return denied("the server requests the password scramble of MySQL 3.23, which is not safe")
				}
				c := cursor{rest: packet[1:]}
				l.plugin = string(c.untilZero())
				l.scramble = bytes.Clone(c.rest)
				answer, err = l.first()
				waiting = false // even an empty answer is sent
			case markMore:
				answer, err = l.more(packet[1:])
				waiting = answer == nil
			default:
				return errMalformed
			}
			if err != nil {
				return denied(err.Error())
			}
			w.out = append(w.out[:4], answer...)
		}
	}
}

// appendLoginHead appends what a login and a request for TLS begin with.
func appendLoginHead(b []byte, capabilities, maria uint32) []byte {
	b = binary.LittleEndian.AppendUint32(b, capabilities)
	b = binary.LittleEndian.AppendUint32(b, 1<<30) // the longest packet we take
	b = append(b, utf8mb4)
	b = append(b, make([]byte, 19)...)
	return binary.LittleEndian.AppendUint32(b, maria)
}

func denied(text string) error { return &engine.Error{Kind: engine.Denied, Lost: true, Text: text} }
