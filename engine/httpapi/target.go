package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// target is an engine.Target that was checked, with what is derived from it.
type target struct {
	engine.Target
	base          string      // of all paths: empty, or begins with / and does not end with it
	authorization string      // the header's value; empty: none
	encryption    *tls.Config // nil: none
}

// options are what a target may carry beside its own fields, with what they mean.
var options = map[string]string{
	"auth":   "basic or bearer",
	"tls-ca": "file of certificates to trust instead of the system's",
}

const defaultTimeout = 5 * time.Second

func newTarget(t engine.Target, secure bool) (target, error) {
	if len(t.Addresses) != 1 {
		return target{}, fmt.Errorf("http target: %d addresses, expected one", len(t.Addresses))
	}
	for name := range t.Options {
		if _, ok := options[name]; ok {
			continue
		}
		known := document.SortedKeys(options)
		hint := "known are " + strings.Join(known, ", ")
		if near := document.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return target{}, fmt.Errorf("http target: unknown option %q (%s)", name, hint)
	}
	checked := target{Target: t}
	if checked.Timeout == 0 {
		checked.Timeout = defaultTimeout
	}
	if base := strings.Trim(t.Namespace, "/"); base != "" {
		checked.base = "/" + base
	}
	if strings.ContainsFunc(checked.base, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return target{}, errors.New("http target: the path contains a blank or a non-ASCII character: write it percent-encoded")
	}
	port := "80"
	if secure {
		port = "443"
	}
	checked.Addresses = slices.Clone(t.Addresses)
	if a := t.Addresses[0]; !isSocketPath(a) {
		checked.Addresses[0] = withPort(a, port)
	}
	if err := checked.authorize(); err != nil || !secure {
		return checked, err
	}
	return checked, checked.encrypt()
}

func isSocketPath(address string) bool { return strings.HasPrefix(address, "/") }

func withPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}

// host is what the service is called in the requests.
func (t target) host() string {
	if isSocketPath(t.Addresses[0]) {
		return "localhost"
	}
	return t.Addresses[0]
}

// authorize makes the header that says who asks.
func (t *target) authorize() error {
	plain := func(s string) bool {
		return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
	}
	switch auth := t.Options["auth"]; {
	case auth == "bearer" && t.Password == "":
		return errors.New("http target: auth=bearer needs a password, which is sent as the token")
	case auth == "bearer" && !plain(string(t.Password)):
		return errors.New("http target: the token contains characters that a header cannot")
	case auth == "bearer":
		t.authorization = "Bearer " + string(t.Password)
	case auth != "" && auth != "basic":
		return fmt.Errorf("http target: auth %q, expected basic or bearer", auth)
	case strings.Contains(t.User, ":"):
		return errors.New("http target: the user contains a colon, which basic authentication does not allow")
	case t.User != "":
		t.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(t.User+":"+string(t.Password)))
	}
	return nil
}

func (t *target) encrypt() error {
	host, _, err := net.SplitHostPort(t.host())
	if err != nil {
		host = t.host()
	}
	t.encryption = &tls.Config{ServerName: host, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	file := t.Options["tls-ca"]
	if file == "" {
		return nil
	}
	certificates, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("http target: read tls-ca: %w", err)
	}
	t.encryption.RootCAs = x509.NewCertPool()
	if !t.encryption.RootCAs.AppendCertsFromPEM(certificates) {
		return fmt.Errorf("http target: there is no certificate in %s", file)
	}
	return nil
}
