package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
)

func TestTargetIsReadInAllItsParts(t *testing.T) {
	for text, want := range map[string]engine.Target{
		"mysql://db": {Engine: "mysql", Addresses: []string{"db"}},
		"mysql://root@127.0.0.1:3307/shop": {
			Engine: "mysql", Addresses: []string{"127.0.0.1:3307"}, User: "root", Namespace: "shop"},
		"mysql://app:p%40ss@a:1,b,[::1]:3/x?tls=verify&timeout=2s&tls-ca=%2Fca.pem": {
			Engine: "mysql", Addresses: []string{"a:1", "b", "[::1]:3"}, User: "app", Password: "p@ss", Namespace: "x",
			Options: map[string]string{"tls": "verify", "tls-ca": "/ca.pem"}, Timeout: 2 * time.Second},
		"mysql://app:a/b@c:d@[fe80::1%25eth0]/": {
			Engine: "mysql", Addresses: []string{"[fe80::1%25eth0]"}, User: "app", Password: "a/b@c:d"},
		"mysql://root@/shop?socket=/run/mysqld.sock": {
			Engine: "mysql", Addresses: []string{"/run/mysqld.sock"}, User: "root", Namespace: "shop"},
		"cql://a,b/ks?consistency=LOCAL_QUORUM": {
			Engine: "cql", Addresses: []string{"a", "b"}, Namespace: "ks", Options: map[string]string{"consistency": "LOCAL_QUORUM"}},
	} {
		got, err := engine.ParseTarget(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		same := got.Engine == want.Engine && slices.Equal(got.Addresses, want.Addresses) && got.Namespace == want.Namespace &&
			got.User == want.User && got.Password == want.Password && maps.Equal(got.Options, want.Options) && got.Timeout == want.Timeout
		if !same {
			t.Errorf("%s:\n got %+v, password %q\nwant %+v, password %q", text, got, string(got.Password), want, string(want.Password))
		}
	}
}

func TestTargetErrorsNameThePartAndNoSecret(t *testing.T) {
	for text, part := range map[string]string{
		"":                                   "://",
		"localhost:3306":                     "://",
		"My SQL://h":                         "engine",
		"mysql://":                           "host",
		"mysql://u:hunter2@":                 "host",
		"mysql://u:hunter2@a,:3306/x":        "host 2",
		"mysql://u:hunter2@a:port/x":         "port",
		"mysql://u:hunter2@a:0":              "port",
		"mysql://u:hunter2@a:":               "port",
		"mysql://u:hunter2@::1/x":            "IPv6",
		"mysql://u:hunter2@[::1/x":           "]",
		"mysql://u:hunter2@[db]/x":           "IPv6",
		"mysql://u:hunter2@[::1]3306":        "]",
		"mysql://u:hunter2":                  "port",
		"mysql://u:hunter2%zz@a":             "password",
		"mysql://u%zz:hunter2@a":             "user",
		"mysql://u:hun?hunter2@a/x":          "%3F",
		"mysql://u:hunter2@a/x%z":            "namespace",
		"mysql://u:hunter2@a b/x":            "host",
		"mysql://u:hunter2@a?tls":            "option",
		"mysql://u:hunter2@a?tls=a&tls=b":    "twice",
		"mysql://u:hunter2@a?timeout=soon":   "timeout",
		"mysql://u:hunter2@a?timeout=-1s":    "timeout",
		"mysql://u:hunter2@a?socket=/s":      "socket",
		"mysql://u:hunter2@?socket=run/sock": "socket",
	} {
		_, err := engine.ParseTarget(text)
		if err == nil {
			t.Errorf("%s: accepted", text)
			continue
		}
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not name %q", text, err, part)
		}
		if strings.Contains(err.Error(), "hun") {
			t.Errorf("%s: %q shows the password", text, err)
		}
	}
}

func FuzzTargetErrorsShowNoSecret(f *testing.F) {
	f.Add("hunter2", "db:3306/x?tls=off")
	f.Add("a?b@c/d", "")
	f.Fuzz(func(t *testing.T, password, rest string) {
		const marker = "zqxj" // as no message has it
		_, err := engine.ParseTarget("mysql://u:" + marker + password + marker + "@" + rest)
		if err != nil && strings.Contains(err.Error(), marker) && !strings.Contains(rest, marker) {
			t.Errorf("%q shows the password", err)
		}
	})
}

func TestSecretHidesFromEveryVerb(t *testing.T) {
	target := engine.Target{Engine: "mysql", User: "root", Password: "hunter2"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		if text := fmt.Sprintf(verb, target) + fmt.Sprintf(verb, target.Password) + fmt.Sprintf(verb, &target); strings.Contains(text, "hunter2") ||
			strings.Contains(text, "68756e74657232") {
			t.Errorf("%s shows it: %s", verb, text)
		}
	}
	text, err := json.Marshal(target)
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("JSON shows it: %s %v", text, err)
	}
}

// The name of a product is as good as its engine's.
func TestATargetMayNameAProduct(t *testing.T) {
	for text, want := range map[string]string{"mariadb://a@h:1/d": "mysql", "cassandra://h:1": "cql", "mysql://h:1": "mysql", "http://h:1": "http", "nosuch://h:1": "nosuch"} {
		if got, err := engine.ParseTarget(text); err != nil || got.Engine != want {
			t.Errorf("%s: %q, %v, want %q", text, got.Engine, err, want)
		}
	}
}
