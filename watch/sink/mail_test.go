package sink

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
)

const childMail = "PLIMSOLL_TEST_MAIL"

// A letter with a login goes over TLS, and the password to nobody who does not offer it. The server is a stand-in that speaks as much SMTP as it
// takes, with real TLS; the program's certificates are read once, so that each case is a process of its own.
func TestMailWithALogin(t *testing.T) {
	if kind := os.Getenv(childMail); kind != "" {
		mailWithALogin(t, kind)
		return
	}
	for _, kind := range []string{"offers TLS", "offers none", "has a certificate of nobody"} {
		t.Run(kind, func(t *testing.T) {
			folder := t.TempDir()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMailWithALogin$")
			child.Env = append(os.Environ(), childMail+"="+kind, "SSL_CERT_FILE="+filepath.Join(folder, "roots.pem"), "SSL_CERT_DIR="+folder, "MAIL_FOLDER="+folder)
			if out, err := child.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		})
	}
}

func mailWithALogin(t *testing.T, kind string) {
	certificate, root := certified(t)
	if kind == "has a certificate of nobody" {
		_, root = certified(t)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("MAIL_FOLDER"), "roots.pem"), root, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.2:0") // 127.0.0.1 may have a password in the clear
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // the test has ended
	heard := make(chan []string, 1)
	go func() { heard <- loginMail(listener, kind != "offers none", certificate) }()
	m := Mail{Server: listener.Addr().String(), From: "plimsoll@example.org", To: []string{"dba@example.org"}, User: "plimsoll", Password: engine.Secret("s3cret-of-mail")}
	err = m.Tell(t.Context(), notice())
	all := strings.Join(<-heard, "\n")
	if kind == "offers TLS" {
		login := base64.StdEncoding.EncodeToString([]byte("\x00plimsoll\x00s3cret-of-mail"))
		if err != nil || !strings.Contains(all, "over TLS: AUTH PLAIN "+login) || !strings.Contains(all, "over TLS: Subject: [FIRING] orders/n1 does not answer") {
			t.Errorf("%v; the server heard:\n%s", err, all)
		}
		return
	}
	if err == nil || strings.Contains(err.Error(), "s3cret-of-mail") || strings.Contains(all, "AUTH") || strings.Contains(all, "MAIL") {
		t.Errorf("%v; the server heard:\n%s", err, all)
	}
}

// loginMail returns what it hears of one client, until that goes.
func loginMail(listener net.Listener, encrypts bool, certificate tls.Certificate) (heard []string) {
	conn, err := listener.Accept()
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = conn.Close() }() // the test has ended
	var over string
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") } // the other side notices
	say("220 test")
	data := false
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return heard
		}
		line = strings.TrimSpace(line)
		heard = append(heard, over+line)
		command, _, _ := strings.Cut(line, " ")
		switch {
		case data && line == ".":
			data = false
			say("250 taken")
		case data:
		case command == "EHLO" && encrypts && over == "":
			say("250-test\r\n250-STARTTLS\r\n250 AUTH PLAIN")
		case command == "EHLO":
			say("250-test\r\n250 AUTH PLAIN")
		case command == "STARTTLS":
			say("220 go on")
			conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
			in, over = bufio.NewReader(conn), "over TLS: "
		case command == "AUTH":
			say("235 welcome")
		case command == "DATA":
			data = true
			say("354 go on")
		case command == "QUIT":
			say("221 bye")
		default:
			say("250 yes")
		}
	}
}

// certified is a certificate for the address of the server, which vouches for itself, and that as a file of roots.
func certified(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "mail of a test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 2)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}
