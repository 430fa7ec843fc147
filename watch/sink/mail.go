package sink

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/watch/rules"
)

// Mail sends notices by SMTP, encrypted where the server offers it. A password is never sent in the clear.
type Mail struct {
	Server   string // host:port
	From     string
	To       []string
	User     string
	Password engine.Secret
}

var _ rules.Teller = Mail{}

func (Mail) Name() string { return "mail" }

// Tell implements rules.Teller.
func (m Mail) Tell(ctx context.Context, n rules.Notice) error {
	letter, err := m.letter(n, time.Now())
	if err != nil {
		return err
	}
	var auth smtp.Auth
	if m.User != "" {
		host, _, err := net.SplitHostPort(m.Server)
		if err != nil {
			return fmt.Errorf("mail server %q: %w", m.Server, err)
		}
		auth = smtp.PlainAuth("", m.User, string(m.Password), host)
	}
	sent := make(chan error, 1)
	go func() { sent <- smtp.SendMail(m.Server, auth, m.From, m.To, letter) }()
	select {
	case err := <-sent:
		return m.Password.Redact(err)
	case <-ctx.Done():
		return ctx.Err() // the library cannot be stopped; it gives up by itself
	}
}

func (m Mail) letter(n rules.Notice, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\n", m.From, strings.Join(m.To, ", "),
		mime.QEncoding.Encode("utf-8", oneLine(n.Title())), at.Format(time.RFC1123Z))
	out.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	body := quotedprintable.NewWriter(&out)
	if _, err := body.Write([]byte(letter(n))); err != nil {
		return nil, err
	}
	return out.Bytes(), body.Close()
}

// oneLine keeps a header from being continued by what somebody named an instance.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
