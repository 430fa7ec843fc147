//go:build !linux

package protocol

import "net"

// fastest returns the best exchanger for a connection.
func fastest(conn net.Conn) exchanger { return plain{conn} }
