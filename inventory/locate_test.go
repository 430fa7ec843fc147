package inventory

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/infra/local"
)

const one = "clusters: {shop: {engine: mysql, environment: lab, user: app, password: {file: secret}, nodes: [{name: a, address: \"h:1\"}]}}\n"

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheInventoryIsFoundFromBelowAndByName(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	root, config := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv(Variable, "")
	below := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	found := func(secret string) {
		t.Helper()
		inv, err := Open()
		if err != nil || (secret == "") != (len(inv.Clusters) == 0) {
			t.Fatalf("want a secret %q: %+v, %v", secret, inv, err)
		}
		if secret != "" {
			if got, err := inv.Clusters["shop"].Password.Value(t.Context(), m); err != nil || string(got) != secret {
				t.Errorf("the secret beside the inventory is %q, %v; want %q", string(got), err, secret)
			}
		}
	}
	found("")
	write(t, filepath.Join(config, "plimsoll", File), one)
	write(t, filepath.Join(config, "plimsoll", "secret"), "of the configuration folder\n")
	found("of the configuration folder")
	write(t, filepath.Join(root, File), one)
	write(t, filepath.Join(root, "secret"), "of a parent\r\n") // as an editor on Windows writes it
	found("of a parent")
	write(t, filepath.Join(below, File), one)
	write(t, filepath.Join(below, "secret"), "of this folder")
	found("of this folder")
	t.Setenv(Variable, filepath.Join(root, File))
	found("of a parent")
	t.Setenv(Variable, filepath.Join(root, "nosuch.yaml"))
	if _, err := Open(); err == nil {
		t.Error("an inventory that was named and is not there is taken for an empty one")
	}
}
