package engine

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ParseTarget reads a target as a user writes it:
//
//	engine://user:password@host:port,host:port/namespace?option=value&option=value
//
// Only the engine and one host are needed; an IPv6 address stands in brackets. A port left out is the engine's usual
// one. Two options are meant for all engines: timeout, a duration, and socket, the path of a Unix socket instead of
// hosts. What would be taken for a separator is written as %XX. Errors name the part that is wrong, and never show the
// password.
func ParseTarget(text string) (Target, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !isScheme(scheme) {
		return Target{}, errors.New("target: it must begin with the name of an engine and ://")
	}
	t := Target{Engine: scheme}
	rest, options, _ := strings.Cut(rest, "?")
	if err := t.parseOptions(options); err != nil {
		return Target{}, err
	}
	// A password may hold an @ that nobody escaped: the last one before the path is the separator.
	at := strings.LastIndexByte(rest, '@')
	hosts := rest[at+1:]
	if at >= 0 {
		if err := t.parseUser(rest[:at]); err != nil {
			return Target{}, err
		}
	}
	hosts, namespace, _ := strings.Cut(hosts, "/")
	var err error
	if t.Namespace, err = unescape("namespace", namespace); err != nil {
		return Target{}, err
	}
	if strings.Contains(t.Namespace, "/") {
		return Target{}, fmt.Errorf("target: namespace %q: it cannot hold a /", t.Namespace)
	}
	return t, t.parseHosts(hosts)
}

func isScheme(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func (t *Target) parseUser(text string) error {
	user, password, _ := strings.Cut(text, ":")
	var err error
	if t.User, err = unescape("user", user); err != nil {
		return err
	}
	plain, err := url.PathUnescape(password)
	if err != nil {
		return errors.New("target: password: a % that is not followed by two hexadecimal digits is written %25")
	}
	t.Password = Secret(plain)
	return nil
}

func (t *Target) parseHosts(text string) error {
	if len(t.Addresses) > 0 { // a socket
		if text != "" {
			return fmt.Errorf("target: host %q and the option socket exclude each other", text)
		}
		return nil
	}
	for i, host := range strings.Split(text, ",") {
		part := "host"
		if i > 0 || strings.Contains(text, ",") {
			part = "host " + strconv.Itoa(i+1)
		}
		if err := checkHost(host); err != nil {
			return fmt.Errorf("target: %s: %w", part, err)
		}
		t.Addresses = append(t.Addresses, host)
	}
	return nil
}

func checkHost(text string) error {
	if text == "" {
		return errors.New("it is missing")
	}
	host, port := text, ""
	switch bracket := strings.LastIndexByte(text, ']'); {
	case strings.HasPrefix(text, "["):
		if bracket < 0 || bracket+1 < len(text) && text[bracket+1] != ':' {
			return fmt.Errorf("%q: an IPv6 address is written [address]:port", text)
		}
		host, port = text[1:bracket], strings.TrimPrefix(text[bracket+1:], ":")
		if net.ParseIP(strings.SplitN(host, "%", 2)[0]) == nil {
			return fmt.Errorf("%q is not an IPv6 address", host)
		}
		if bracket+1 == len(text) {
			return nil
		}
	case strings.Count(text, ":") > 1:
		return fmt.Errorf("%q: an IPv6 address is written [address]:port", text)
	case strings.Contains(text, ":"):
		host, port, _ = strings.Cut(text, ":")
	default:
		return checkName(host)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return checkName(host)
}

func checkName(host string) error {
	if host == "" || strings.ContainsAny(host, " \t\n\"'<>\\^`{|}") {
		return fmt.Errorf("%q is not the name or address of a host", host)
	}
	return nil
}

func (t *Target) parseOptions(text string) error {
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return fmt.Errorf("target: option %q: it is written name=value", name)
		}
		if _, double := t.Options[name]; double {
			return fmt.Errorf("target: option %s stands there twice", name)
		}
		value, err := unescape("option "+name, value)
		if err != nil {
			return err
		}
		switch name {
		case "timeout":
			if t.Timeout, err = time.ParseDuration(value); err != nil || t.Timeout <= 0 {
				return fmt.Errorf("target: option timeout: %q is not a duration such as 5s", value)
			}
		case "socket":
			if !strings.HasPrefix(value, "/") {
				return fmt.Errorf("target: option socket: %q is not the full path of a socket", value)
			}
			t.Addresses = []string{value}
		default:
			if t.Options == nil {
				t.Options = make(map[string]string)
			}
			t.Options[name] = value
		}
	}
	return nil
}

// unescape resolves %XX in a part that is no secret.
func unescape(part, text string) (string, error) {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return "", fmt.Errorf("target: %s %q: a %% that is not followed by two hexadecimal digits is written %%25", part, text)
	}
	return plain, nil
}
