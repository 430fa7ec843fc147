package mysql

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

const (
	defaultPort    = "3306"
	defaultTimeout = 5 * time.Second
)

// target is an engine.Target that was checked, with what is derived from it.
type target struct {
	engine.Target
	encryption encryption
}

// options are what a target may carry beside its own fields, with what they mean.
var options = map[string]string{
	"tls":      "off, preferred, required, verify-ca or verify",
	"tls-ca":   "file of certificates to trust instead of the system's",
	"tls-cert": "file of our certificate",
	"tls-key":  "file of its key",
	"tls-name": "name that the server's certificate must have, if not the host's",
}

func newTarget(t engine.Target) (target, error) {
	if len(t.Addresses) == 0 {
		return target{}, fmt.Errorf("%s target: no address", cmp.Or(t.Engine, "mysql"))
	}
	for name := range t.Options {
		if _, ok := options[name]; ok {
			continue
		}
		known := make([]string, 0, len(options))
		for o := range options {
			known = append(known, o)
		}
		slices.Sort(known)
		hint := "known are " + strings.Join(known, ", ")
		if near := document.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return target{}, fmt.Errorf("%s target: unknown option %q (%s)", cmp.Or(t.Engine, "mysql"), name, hint)
	}
	checked := target{Target: t}
	checked.Addresses = slices.Clone(t.Addresses)
	for i, a := range checked.Addresses {
		if !isSocketPath(a) {
			checked.Addresses[i] = withPort(a)
		}
	}
	if checked.Timeout == 0 {
		checked.Timeout = defaultTimeout
	}
	var err error
	checked.encryption, err = newEncryption(t.Options)
	return checked, err
}

func isSocketPath(address string) bool { return strings.HasPrefix(address, "/") }

// withPort adds the usual port to an address that names none.
func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), defaultPort)
}
