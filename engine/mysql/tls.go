package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"plimsoll/engine"
)

// The values of the option tls. What is sent is secret from preferred on if the server can; who answers is proved only
// by the verify modes.
const (
	tlsOff       = "off" // also when the option is absent, as with other load generators
	tlsPreferred = "preferred"
	tlsRequired  = "required"
	tlsVerifyCA  = "verify-ca"
	tlsVerify    = "verify" // the certificate's chain and name
)

// encryption is how a target wants TLS.
type encryption struct {
	mode   string
	config *tls.Config
}

func newEncryption(options map[string]string) (encryption, error) {
	modes := []string{tlsOff, tlsPreferred, tlsRequired, tlsVerifyCA, tlsVerify}
	e := encryption{mode: options["tls"], config: &tls.Config{ServerName: options["tls-name"], MinVersion: tls.VersionTLS12}}
	if e.mode == "" {
		e.mode = tlsOff
	}
	if !slices.Contains(modes, e.mode) {
		return e, fmt.Errorf("mysql target: option tls is %q, not one of %s", e.mode, strings.Join(modes, ", "))
	}

	if file := options["tls-ca"]; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return e, fmt.Errorf("mysql target: option tls-ca: %w", err)
		}
		e.config.RootCAs = x509.NewCertPool()
		if !e.config.RootCAs.AppendCertsFromPEM(text) {
			return e, fmt.Errorf("mysql target: option tls-ca: no certificate in %s", file)
		}
	}
	cert, key := options["tls-cert"], options["tls-key"]
	if (cert == "") != (key == "") {
		return e, fmt.Errorf("mysql target: options tls-cert and tls-key need each other")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return e, fmt.Errorf("mysql target: options tls-cert and tls-key: %w", err)
		}
		e.config.Certificates = []tls.Certificate{pair}
	}

	e.config.InsecureSkipVerify = e.mode != tlsVerify
	if e.mode == tlsVerifyCA {
		e.config.VerifyConnection = verifyChain(e.config.RootCAs)
	}
	return e, nil
}

// verifyChain checks who signed a certificate, not whom it names.
func verifyChain(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		chain := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range state.PeerCertificates[1:] {
			chain.Intermediates.AddCert(c)
		}
		_, err := state.PeerCertificates[0].Verify(chain)
		return err
	}
}

// wanted tells whether to encrypt a connection to a server that greeted thus.
func (e encryption) wanted(g greeting, conn net.Conn) (bool, error) {
	offered := g.capabilities&capTLS != 0
	switch e.mode {
	case tlsOff:
		return false, nil
	case tlsPreferred:
		return offered && conn.RemoteAddr().Network() != "unix", nil
	}
	if !offered {
		return false, &engine.Error{Kind: engine.Denied, Lost: true, Text: "the target demands TLS (option tls=" + e.mode + "), which the server does not offer"}
	}
	return true, nil
}

// start puts TLS on a connection.
func (e encryption) start(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	config := e.config.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, &engine.Error{Kind: engine.Denied, Lost: true, Text: "TLS: " + err.Error(), Err: err}
	}
	return encrypted, nil
}
