package mysql

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"

	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

// handshake opens a session on a fresh connection: greeting, TLS if wanted, proof of who we are.
func handshake(ctx context.Context, conn net.Conn, t target, address string) (*session, error) {
	w := protocol.NewStream(conn)
	packet, err := w.Packet()
	switch {
	case errors.Is(err, protocol.ErrOrder): // the first packet of all: these bytes are no packet
		return nil, errNotMySQL
	case err != nil:
		return nil, err
	}
	if len(packet) > 0 && packet[0] == protocol.MarkError {
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
		w.Out = appendLoginHead(w.Out[:4], capabilities, maria)
		if err := w.Post(); err != nil {
			return nil, err
		}
		seq := w.Seq
		encrypted, err := t.encryption.start(ctx, conn, address)
		if err != nil {
			return nil, err
		}
		w = protocol.NewStream(encrypted)
		w.Seq = seq
	}

	l := &protocol.Login{
		Password: string(t.Password),
		Private:  secure || conn.RemoteAddr().Network() == "unix",
		Plugin:   g.plugin,
		Scramble: g.scramble,
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
func authenticate(w *protocol.Stream, l *protocol.Login, t target, capabilities, maria uint32) error {
	proof, err := l.First()
	if err != nil { // a method we do not know: the account's own may be another, so let the server ask for it
		l.Plugin = protocol.PluginNative
		if proof, err = l.First(); err != nil {
			return err
		}
	}
	w.Out = appendLoginHead(w.Out[:4], capabilities, maria)
	w.Out = append(append(w.Out, t.User...), 0)
	w.Out = protocol.AppendText(w.Out, proof)
	if t.Namespace != "" {
		w.Out = append(append(w.Out, t.Namespace...), 0)
	}
	w.Out = append(append(w.Out, l.Plugin...), 0)
	if capabilities&capConnectAttributes != 0 {
		w.Out = protocol.AppendText(w.Out, protocol.AppendText(protocol.AppendText(nil, "program_name"), "plimsoll"))
	}

	for {
		if err := w.Send(); err != nil {
			return err
		}
		for waiting := true; waiting; {
			packet, err := w.Packet()
			if err != nil {
				return err
			}
			if len(packet) == 0 {
				return errMalformed
			}
			var answer []byte
			switch packet[0] {
			case protocol.MarkOK:
				return nil
			case protocol.MarkError:
				return serverError(packet)
			case protocol.MarkEOF:
				if len(packet) == 1 {
					return denied("the server requests the password scramble of MySQL 3.23, which is not safe")
				}
				c := protocol.Cursor{Rest: packet[1:]}
				l.Plugin = string(c.UntilZero())
				l.Scramble = bytes.Clone(c.Rest)
				answer, err = l.First()
				waiting = false // even an empty answer is sent
			case protocol.MarkMore:
				answer, err = l.More(packet[1:])
				waiting = answer == nil
			default:
				return errMalformed
			}
			if err != nil {
				return denied(err.Error())
			}
			w.Out = append(w.Out[:4], answer...)
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
