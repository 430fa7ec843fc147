package loadcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/infra/local"
	"plimsoll/inventory"
)

// TestASecretIsTheSameByEveryWay reads files as editors of Unix and of Windows write them, by all ways that a password is given.
func TestASecretIsTheSameByEveryWay(t *testing.T) {
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		"s3cret": "s3cret", "s3cret\n": "s3cret", "s3cret\r\n": "s3cret", " with blanks \r\n": " with blanks ", "two\r\nlines\r\n": "two\r\nlines",
		"ends\r\n\r\n": "ends\r\n", "\r\n": "", "": "",
	} {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		ofInventory := func(s inventory.Secret) func() (string, error) {
			return func() (string, error) {
				v, err := s.Value(t.Context(), machine)
				return string(v), err
			}
		}
		ofLoad := func(o options) func() (string, error) {
			return func() (string, error) { return o.password(t.Context()) }
		}
		for way, read := range map[string]func() (string, error){
			"password: {file}":    ofInventory(inventory.Secret{File: file}),
			"password: {command}": ofInventory(inventory.Secret{Command: []string{"cat", file}}),
			"--password-file":     ofLoad(options{passwordFile: file}),
			"--password-command":  ofLoad(options{passwordCommand: "cat '" + file + "'"}),
		} {
			if got, err := read(); err != nil || got != want {
				t.Errorf("%q by %s: %q %v, want %q", content, way, got, err, want)
			}
		}
	}
}

// What a program prints that was to fetch the password may hold it: it is shown to nobody.
func TestAFailingPasswordCommandIsNotQuoted(t *testing.T) {
	o := options{passwordCommand: "echo hunter2; echo hunter2 >&2; exit 3"}
	if got, err := o.password(t.Context()); err == nil || got != "" || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%q, %v", got, err)
	}
}
