package mysql

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
)

func TestTargetGetsItsDefaults(t *testing.T) {
	given := []string{"db", "db:3307", "::1", "[::1]", "[::1]:3308", "/run/mysqld.sock"}
	got, err := newTarget(engine.Target{Addresses: given})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"db:3306", "db:3307", "[::1]:3306", "[::1]:3306", "[::1]:3308", "/run/mysqld.sock"}
	if !slices.Equal(got.Addresses, want) || got.Timeout != 5*time.Second || got.encryption.mode != tlsOff {
		t.Errorf("%v, %v, tls %s", got.Addresses, got.Timeout, got.encryption.mode)
	}
	if given[0] != "db" {
		t.Error("the caller's addresses were changed")
	}
}

func TestTargetRefusesWhatItDoesNotKnow(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for says, options := range map[string]map[string]string{
		"did you mean tls-ca?":  {"tls-cs": "x"},
		"known are tls, tls-ca": {"compression": "zstd"},
		`option tls is "on"`:    {"tls": "on"},
		"need each other":       {"tls": "required", "tls-cert": "x"},
		"no such file":          {"tls-ca": filepath.Join(t.TempDir(), "none.pem")},
		"no certificate in":     {"tls-ca": empty},
	} {
		if _, err := newTarget(engine.Target{Addresses: []string{"db"}, Options: options}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", options, err, says)
		}
	}
	if _, err := newTarget(engine.Target{}); err == nil {
		t.Error("a target without an address was taken")
	}
}
