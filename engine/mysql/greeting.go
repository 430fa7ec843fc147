package mysql

import (
	"bytes"
	"errors"

	"plimsoll/engine/mysql/protocol"
)

// greeting is what a server says first.
type greeting struct {
	version      string
	connection   uint32
	capabilities uint32
	maria        uint32 // MariaDB's own capabilities; 0 from MySQL
	scramble     []byte // 20 bytes and a zero
	plugin       string // the authentication method it assumes
}

var errNotMySQL = errors.New("the program that listens there does not speak the MySQL protocol")

func parseGreeting(packet []byte) (greeting, error) {
	c := protocol.Cursor{Rest: packet}
	if c.Uint8() != 10 {
		return greeting{}, errNotMySQL
	}
	g := greeting{version: string(c.UntilZero()), connection: c.Uint32()}
	g.scramble = bytes.Clone(c.Bytes(8))
	c.Bytes(1)
	g.capabilities = uint32(c.Uint16())
	c.Bytes(1 + 2) // character set, status
	g.capabilities |= uint32(c.Uint16()) << 16
	length := uint64(c.Uint8())
	c.Bytes(6)
	if maria := c.Uint32(); g.capabilities&capLongPassword == 0 {
		g.maria = maria
	}
	g.scramble = append(g.scramble, c.Bytes(max(13, length-min(length, 8)))...)
	if c.Short || g.capabilities&(capProtocol41|capSecureConnection) != capProtocol41|capSecureConnection {
		return greeting{}, errNotMySQL
	}
	if g.capabilities&capPluginAuth != 0 {
		g.plugin = string(c.UntilZero())
	}
	return g, nil
}

// wanted are the capabilities to ask of a server, its own and MariaDB's.
func (g greeting) wanted(database string, tls bool) (capabilities, maria uint32) {
	capabilities = capLongFlag | capProtocol41 | capTransactions | capSecureConnection | capMultiResults |
		capPSMultiResults | capPluginAuth | capConnectAttributes | capAuthLength | capDeprecateEOF
	if tls {
		capabilities |= capTLS
	}
	if database != "" {
		capabilities |= capConnectWithDB
	}
	if maria = g.maria & mariaCacheMetadata; maria == 0 {
		capabilities |= capLongPassword
	}
	return capabilities & (g.capabilities | capLongPassword), maria
}
