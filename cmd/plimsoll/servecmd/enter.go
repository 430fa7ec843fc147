package servecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/hint"
	"plimsoll/lab"
)

func newEnter(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "enter", Short: "Print a new login address for the web page", Args: console.Exactly(),
		Long: `Print a new login address for the page that plimsoll serve shows on this machine. It works once, for five minutes.
The command needs read access to the state folder.`,
		Example: "  plimsoll serve enter",
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, err := readServed()
			if err != nil {
				return err
			}
			code, err := address.code(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "%s/enter?code=%s\n", address.URL, code)
			return nil
		},
	}
}

// servedAt is where the page is shown, and the token that lets programs in. It is kept where only its owner reads it.
type servedAt struct {
	URL    string `json:"url"`
	Listen string `json:"listen"`
	Token  string `json:"token"`
}

// linked is the address for links that are opened elsewhere; "" for a socket, where only this machine reaches the page, and where it listens at every
// address of the machine: none of them is known to be the one that people use.
func (d servedAt) linked() string {
	at, err := netip.ParseAddrPort(d.Listen)
	if err != nil || at.Addr().IsUnspecified() || at.Addr().IsLoopback() {
		return ""
	}
	return d.URL
}

func servedFile() (string, error) {
	home, err := lab.Home(os.Getenv)
	return filepath.Join(home, "serve.json"), err
}

// keep writes the file; forget takes it away if it is still this page's.
func (d servedAt) keep() (forget func(), err error) {
	path, err := servedFile()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("keep the address: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the address: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, fmt.Errorf("keep the address: %w", err)
	}
	return func() {
		if now, err := readServed(); err == nil && now == d {
			_ = os.Remove(path) // a file that stays says where nobody answers
		}
	}, nil
}

func readServed() (servedAt, error) {
	var d servedAt
	path, err := servedFile()
	if err != nil {
		return d, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, hint.With(errors.New("plimsoll serve is not running on this state folder"), "plimsoll serve")
	}
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		return d, fmt.Errorf("read the address of the page: %w", err)
	}
	return d, nil
}

// code asks the page for an entry code.
func (d servedAt) code(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+"/enter/code", nil)
	if err != nil {
		return "", fmt.Errorf("ask for a code: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+d.Token)
	r.Header.Set("Accept", "application/json")
	var dialer net.Dialer
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network(d.Listen), d.Listen)
		},
	}}
	answer, err := client.Do(r)
	if err != nil {
		return "", hint.With(fmt.Errorf("ask for a code: %w", err), "check that plimsoll serve is still running")
	}
	defer func() { _ = answer.Body.Close() }()
	var got struct{ Code, Error string }
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		return "", fmt.Errorf("ask for a code: %w", err)
	}
	if got.Code == "" {
		return "", errors.New(got.Error)
	}
	return got.Code, nil
}
