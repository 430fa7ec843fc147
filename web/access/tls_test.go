package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certify writes a certificate of this name and its key.
func certify(t *testing.T, folder, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"page.crt": {Type: "CERTIFICATE", Bytes: public}, "page.key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(folder, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACertificateIsReadAnew(t *testing.T) {
	folder := t.TempDir()
	certify(t, folder, "first")
	path := filepath.Join(folder, "web.yml")
	if err := os.WriteFile(path, []byte("tls_server_config: {cert_file: page.crt, key_file: page.key}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := New(Options{Listen: "127.0.0.1:0", Config: path})
	if err != nil {
		t.Fatal(err)
	}
	secure, err := g.Secure()
	if err != nil || secure == nil {
		t.Fatalf("%+v, %v", secure, err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", secure.ServerTLS())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).Handshake()
			_ = c.Close()
		}
	}()
	shown := func() string {
		t.Helper()
		c, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it is looked at
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		return c.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := shown(); got != "first" {
		t.Errorf("it shows %q", got)
	}
	certify(t, folder, "second")
	if got := shown(); got != "second" {
		t.Errorf("after the change it shows %q", got)
	}
	_ = listener.Close()
	<-done
	if c := g.cookie("x", 1); !c.Secure {
		t.Error("the cookie may go over a line that everybody reads")
	}
}

func TestCookiesOfTwoInstancesDiffer(t *testing.T) {
	one, err := New(Options{Listen: "127.0.0.1:1", Instance: "a"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(Options{Listen: "127.0.0.1:2", Instance: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if one.cookieName == other.cookieName {
		t.Error("cookies do not know ports: two pages on one host would take each other's")
	}
}
