package access

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

// Config is the web-config file: who may enter with which password, and the certificate. The keys that Prometheus has are written as
// in Prometheus' web configuration file. It is read anew for each request that needs it: a change holds at once.
type Config struct {
	Users map[string]string `yaml:"basic_auth_users" doc:"A bcrypt hash for each user."`
	TLS   *TLS              `yaml:"tls_server_config" doc:"The certificate of the page."`
	Roles map[string]string `yaml:"roles" doc:"view, operate or approve for each user. Default: view."`
	Hosts []string          `yaml:"hosts" doc:"Host names of the page, besides the address it listens on."`
	Proxy *Proxy            `yaml:"proxy" doc:"A proxy in front of the page that authenticates people."`
}

// TLS is where certificate and key are. Relative paths are beside the file.
type TLS struct {
	Certificate string `yaml:"cert_file,required"`
	Key         string `yaml:"key_file,required"`
}

// Proxy is who may say by a header who a request comes from.
type Proxy struct {
	From   []string `yaml:"from,required" doc:"Addresses or networks of the proxy, such as 10.0.0.5 or 10.0.0.0/24."`
	Header string   `yaml:"user_header,required" doc:"The header that holds the user's name."`
}

// ReadConfig reads a web-config file and refuses what is wrong with it.
func ReadConfig(path string) (Config, error) {
	var c Config
	data, err := os.ReadFile(path)
	if err != nil {
		return c, hint.Missing(fmt.Errorf("read the web configuration: %w", err), "write the file, whose keys docs/web.md lists, or name another one: plimsoll serve --web-config FILE")
	}
	root, err := document.Parse(path, data)
	if err != nil {
		return c, err
	}
	if root.Kind == document.Nothing {
		return c, nil
	}
	if err := root.Decode(&c); err != nil {
		return c, err
	}
	if t := c.TLS; t != nil {
		t.Certificate, t.Key = beside(path, t.Certificate), beside(path, t.Key)
	}
	return c, c.check(root)
}

func beside(config, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(config), path)
}

func (c Config) check(root *document.Node) error {
	var ps document.Problems
	for name, hash := range c.Users {
		at := root.Get("basic_auth_users").Get(name)
		if cost, err := bcrypt.Cost([]byte(hash)); err != nil {
			ps.Add(at, at.Errorf("the password of %s is not a bcrypt hash", name).WithHint("htpasswd -nBC 10 %s makes one", name))
		} else if cost > 16 {
			ps.Add(at, at.Errorf("the hash of %s has cost %d, expected at most 16: each login would take seconds", name, cost))
		}
	}
	for name, role := range c.Roles {
		if _, known := roleNames[role]; !known {
			ps.Add(root, document.UnknownName(root.Get("roles").Get(name), "role", document.SortedKeys(roleNames)))
		}
	}
	if c.Proxy != nil {
		for i, from := range c.Proxy.From {
			if _, err := prefix(from); err != nil {
				at := root.Get("proxy").Get("from").Items[i]
				ps.Add(at, at.Errorf("%q, expected an address or a network such as 10.0.0.0/24", from))
			}
		}
	}
	return ps.Err()
}

func prefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		return netip.ParsePrefix(text)
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return a.Prefix(a.BitLen())
}

// role is what a user may do.
func (c Config) role(user string) Role {
	if name, said := c.Roles[user]; said {
		return roleNames[name]
	}
	return View
}

// ServerTLS is how the server speaks TLS: the certificate is read anew for each connection.
func (t TLS) ServerTLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
			if err != nil {
				return nil, fmt.Errorf("read the certificate: %w", err)
			}
			return &c, nil
		},
	}
}

// errNoUsers says that a page which others can reach would let everybody in.
var errNoUsers = errors.New("other machines can reach this address, which needs users and a certificate")
