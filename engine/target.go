package engine

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// TargetError is a target that an engine cannot make sense of, an unknown option say: nobody was asked.
type TargetError struct{ Err error }

func (e *TargetError) Error() string { return e.Err.Error() }
func (e *TargetError) Unwrap() error { return e.Err }

// ParseTarget reads a target as a user writes it:
//
//	engine://user:password@host:port,host:port/namespace?option=value&option=value
//
// Only the engine and one host are needed; an IPv6 address stands in brackets. A port left out is the engine's usual
// one. Two options are meant for all engines: timeout, a duration, and socket, the path of a Unix socket instead of
// hosts. What would be taken for a separator is written as %XX. Errors name the part that is wrong, and quote nothing that
// a password could have slipped into.
func ParseTarget(text string) (Target, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !isScheme(scheme) {
		return Target{}, errors.New("target: it must begin with the name of an engine and ://")
	}
	t := Target{Engine: cmp.Or(Family(scheme), scheme)}
	rest, options, _ := strings.Cut(rest, "?")
	if strings.Contains(options, "@") {
		return Target{}, errors.New("target: there is an @ after the ?; write ? in a password as %3F, @ in an option as %40")
	}
	hosts := rest
	if at := strings.LastIndexByte(rest, '@'); at >= 0 { // the last one: a password may hold others
		hosts = rest[at+1:]
		if err := t.parseUser(rest[:at]); err != nil {
			return Target{}, err
		}
	}
	if err := t.parseOptions(options); err != nil {
		return Target{}, err
	}
	hosts, namespace, _ := strings.Cut(hosts, "/")
	if err := t.parseHosts(hosts); err != nil {
		return Target{}, err
	}
	var err error
	if t.Namespace, err = unescape("namespace", namespace); err != nil {
		return Target{}, err
	}
	return t, nil
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
	plain, err := unescape("password", password)
	t.Password = Secret(plain)
	return err
}

func (t *Target) parseHosts(text string) error {
	if len(t.Addresses) > 0 { // a socket
		if text != "" {
			return errors.New("target: a host and the option socket exclude each other")
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
	host, port, colon := text, "", false
	if strings.HasPrefix(text, "[") {
		end := strings.LastIndexByte(text, ']')
		if end < 0 {
			return errors.New("the ] after an IPv6 address is missing")
		}
		if _, err := netip.ParseAddr(text[1:end]); err != nil {
			return errors.New("between [ and ] there is no IPv6 address")
		}
		if end+1 == len(text) {
			return nil
		}
		if port, colon = strings.CutPrefix(text[end+1:], ":"); !colon {
			return errors.New("after ] only : and a port may follow")
		}
	} else {
		host, port, colon = strings.Cut(text, ":")
	}
	switch {
	case strings.Contains(port, ":"):
		return errors.New("an IPv6 address is written [address]:port")
	case host == "":
		return errors.New("the name is missing")
	case strings.ContainsAny(host, " \t\n\"'<>\\^`{|}"):
		return errors.New("the name contains characters that a host name cannot")
	}
	if n, err := strconv.Atoi(port); colon && (err != nil || n < 1 || n > 65535) {
		return errors.New("the port is not a number from 1 to 65535")
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
			return fmt.Errorf("target: option %s is given twice", name)
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

func unescape(part, text string) (string, error) {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return "", fmt.Errorf("target: %s: a %% that is not followed by two hexadecimal digits is written %%25", part)
	}
	return plain, nil
}
