package inventory

import (
	"strings"
	"testing"

	"plimsoll/infra/local"
	"plimsoll/internal/document/documenttest"
)

const whole = `
clusters:
  orders:
    engine: mysql
    environment: production
    nodes:
      - {name: a, address: "db1:3306", machine: local, service: mariadb}
      - {name: b, address: "db2:3306", machine: there, spare: true}
    user: root
    password: {env: PW}
    replication: {user: repl, password: {file: pw}}
    options: {tls: required}
machines:
  there: {ssh: db2, become: mysql}
state: {postgres: {command: [cat, dsn]}}
gate: {rehearsals: 3}
approvals: {by: other}
`

func TestNoInventoryPanics(t *testing.T) {
	if _, err := Parse("whole.yaml", []byte(whole)); err != nil {
		t.Fatal(err)
	}
	documenttest.EachMutant(t, whole, func(text []byte) { _, _ = Parse("mutant.yaml", text) })
}

func TestRefusalsOfNodes(t *testing.T) {
	for was, c := range map[string]struct{ is, want string }{
		"password: {file: pw}": {"password: ", `"password" is missing`},
		`"db2:3306"`:           {`"db1:3306"`, `:8:`},
		"name: b":              {`name: "b\u001b[31m"`, "node name"},
		"name: a":              {`name: "a;rm -rf"`, "node name"},
	} {
		_, err := Parse("t.yaml", []byte(strings.Replace(whole, was, c.is, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.is, err, c.want)
		}
	}
}

// What a program prints that was to fetch a secret may hold it: it is shown to nobody.
func TestAFailingPasswordCommandIsNotQuoted(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	s := Secret{Command: []string{"sh", "-c", "echo hunter2 >&2; exit 3"}}
	if _, err := s.Value(t.Context(), m); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "sh ended with status 3") {
		t.Errorf("%v", err)
	}
}
