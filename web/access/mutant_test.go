package access

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/document/documenttest"
)

func TestNoWebConfigurationPanics(t *testing.T) {
	const whole = `
basic_auth_users: {ann: $2y$10$abcdefghijklmnopqrstuuVrWkMqWpzGwqTvuFfLwFbhdiYQZ7nLS}
roles: {ann: operate}
tls_server_config: {cert_file: cert.pem, key_file: key.pem}
proxy: {from: [10.0.0.5, 10.0.0.0/24], user_header: X-User}
`
	name := filepath.Join(t.TempDir(), "web.yaml")
	read := func(text []byte) error {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadConfig(name)
		return err
	}
	if err := read([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	documenttest.EachMutant(t, whole, func(text []byte) { _ = read(text) })
}
