package inventory

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/internal/document"
)

const text = `
clusters:
  orders:
    engine: mysql
    environment: production
    user: dba
    password: {env: ORDERS_PASSWORD}
    options: {tls: required}
    nodes:
      - {name: a, address: "10.0.0.1:3306"}
      - {name: b, address: "10.0.0.2:3306", machine: local}
`

func TestAProductNamesItsEngine(t *testing.T) {
	inv, err := Parse("plimsoll.yaml", []byte(strings.Replace(text, "engine: mysql", "engine: mariadb", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if c := inv.Clusters["orders"]; c.Engine != "mysql" || c.Product != "mariadb" {
		t.Errorf("engine %q, product %q", c.Engine, c.Product)
	}
}

// An engine is checked where the file is read, so that its place is told, and products are names as good as engines.
func TestAnEngineThatDoesNotExistIsRefusedWithItsPlace(t *testing.T) {
	for wrote, want := range map[string]string{
		"mariab": `plimsoll.yaml:4:13: unknown engine "mariab", expected cassandra, cql, mariadb, mysql, rds-mysql, scylladb or singlestore (did you mean "mariadb"?)`,
		"Aurora": `plimsoll.yaml:4:13: unknown engine "Aurora", expected cassandra, cql, mariadb, mysql, rds-mysql, scylladb or singlestore (write engine: mysql)`,
		"http":   `plimsoll.yaml:4:13: unknown engine "http", expected cassandra, cql, mariadb, mysql, rds-mysql, scylladb or singlestore`,
	} {
		if _, err := Parse("plimsoll.yaml", []byte(strings.Replace(text, "engine: mysql", "engine: "+wrote, 1))); err == nil || err.Error() != want {
			t.Errorf("%s: %v", wrote, err)
		}
	}
}

func TestReadsClustersAndLeavesSecretsWhereTheyAre(t *testing.T) {
	inv, err := Parse("plimsoll.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := inv.Clusters["orders"]
	target := c.Target(c.Nodes[1], "x")
	if target.Addresses[0] != "10.0.0.2:3306" || target.User != "dba" || target.Options["tls"] != "required" {
		t.Errorf("target %+v", target)
	}
	if got := c.Whole("x").Addresses; !slices.Equal(got, []string{"10.0.0.1:3306", "10.0.0.2:3306"}) {
		t.Errorf("the whole cluster is %v", got)
	}
	c.Nodes[0].Spare = true
	if whole := c.Whole("x"); !slices.Equal(whole.Addresses, []string{"10.0.0.2:3306"}) || whole.User != "dba" {
		t.Errorf("without a spare node it is %+v", whole)
	}
}

func TestSecretsComeFromThreePlaces(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("A_SECRET", "s3\r\n") // as a file from Windows that a unit reads into it
	for _, s := range []*Secret{{Env: "A_SECRET"}, {File: file}, {Command: []string{"echo", "s3"}}} {
		if v, err := s.Value(t.Context(), m); err != nil || string(v) != "s3" {
			t.Errorf("%+v: %q, %v", s, string(v), err)
		}
	}
	if _, err := (&Secret{Env: "NOT_SET_ANYWHERE"}).Value(t.Context(), m); err == nil {
		t.Error("a variable that is not set was taken")
	}
}

func TestRefusesWithThePlace(t *testing.T) {
	for change, want := range map[string]string{
		"environment: production|environment: prod":         `unknown environment "prod"`,
		"password: {env: ORDERS_PASSWORD}|password: s3cret": `expected a mapping`,
		"{env: ORDERS_PASSWORD}|{env: A, file: b}":          "2 sources",
		"name: b|name: a":             `"a" is listed twice`,
		"machine: local|machine: far": `unknown machine "far"`,
		"user: dba|usr: dba":          `unknown key "usr"`,
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := Parse("plimsoll.yaml", []byte(strings.Replace(text, from, to, 1)))
		var ps document.Problems
		if !errors.As(err, &ps) || !strings.Contains(err.Error(), want) || ps[0].Line == 0 {
			t.Errorf("with %s: %v", to, err)
		}
	}
	for _, change := range []string{`user: dba|user: ""`, "user: dba|user:", `address: "10.0.0.1:3306"|address: ""`} {
		from, to, _ := strings.Cut(change, "|")
		if _, err := Parse("plimsoll.yaml", []byte(strings.Replace(text, from, to, 1))); err == nil || !strings.Contains(err.Error(), ": nothing, expected ") {
			t.Errorf("with %s: %v", to, err)
		}
	}
	if inv, err := Read(filepath.Join(t.TempDir(), File)); err != nil || len(inv.Clusters) != 0 {
		t.Errorf("without a file: %v", err)
	}
}

func TestThePageOfTheInventory(t *testing.T) {
	page, err := os.ReadFile("../docs/inventory.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```yaml\n")
	example, rest, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("there is no example")
	}
	inv, err := Parse("inventory.md", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if len(inv.Clusters) != 4 || inv.State.Postgres == nil {
		t.Errorf("the example has %+v", inv)
	}
	for _, of := range []any{Cluster{}, Node{}, Machine{}, EC2{}, Kubernetes{}, Volume{}, Secret{}, State{}} {
		for _, key := range document.Keys(reflect.TypeOf(of)) {
			if !strings.Contains(rest, "`"+key+"`") {
				t.Errorf("nothing is said of %s of %T", key, of)
			}
		}
	}
}

func TestInstancesAndVolumesOfEC2(t *testing.T) {
	const listed = `
machines:
  db-a: {ssh: db-a, ec2: {id: i-0123456789abcdef0}}
  db-b: {ssh: db-b, ec2: {tags: {Name: db-b, fleet: orders}, profile: ops}}
clusters:
  orders:
    engine: mysql
    environment: staging
    user: dba
    aws: {region: ap-northeast-2, profile: ops}
    nodes:
      - {name: a, address: "10.0.0.1:3306", machine: db-a, volumes: {network: {id: vol-0123456789abcdef0}}}
      - {name: b, address: "10.0.0.2:3306", machine: db-b, spare: true}
`
	inv, err := Parse("plimsoll.yaml", []byte(listed))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"db-a": "i-0123456789abcdef0", "db-b": "Name=db-b,fleet=orders"} {
		m, known := inv.Machine(name)
		if !known || m.EC2.String() != want || m.EC2.Region != "ap-northeast-2" || m.EC2.Profile != "ops" {
			t.Errorf("%s is %+v", name, m.EC2)
		}
	}
	if on := inv.Clusters["orders"].OnEC2(); len(on) != 2 {
		t.Errorf("on EC2: %v", on)
	}
	for change, want := range map[string]string{
		"id: i-0123456789abcdef0|id: db-a":                                  "expected the id of an instance",
		"{id: i-0123456789abcdef0}|{id: i-0123456789abcdef0, tags: {a: b}}": "expected one of id and tags",
		"{id: i-0123456789abcdef0}|{}":                                      "expected one of id and tags",
		"id: vol-0123456789abcdef0|id: network":                             "expected the id of a volume",
		"profile: ops}}|profile: other}}":                                   "in another region or account",
		", ec2: {id: i-0123456789abcdef0}|":                                 "without a machine that is an EC2 instance",
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := Parse("plimsoll.yaml", []byte(strings.Replace(listed, from, to, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s: %v, want %s", to, err, want)
		}
	}
}

// lister is a provider that remembers what it was asked for.
type lister struct {
	infra.Volumes
	tags map[string]string
}

func (l *lister) List(_ context.Context, tags map[string]string) ([]infra.Volume, error) {
	l.tags = tags
	return nil, nil
}

func (l *lister) Describe(_ context.Context, id string) (infra.Volume, error) {
	return infra.Volume{ID: id}, nil
}

// Two clusters of one account have nodes of one name: the volumes of one are not the other's.
func TestVolumesAreThoseOfTheirCluster(t *testing.T) {
	provider := &lister{}
	v := Volumes{Volumes: provider, Cluster: "orders", Nodes: []Node{{Name: "a", Volumes: map[string]Volume{
		"network": {ID: "vol-1"}, "old": {Tags: map[string]string{"Name": "a-old"}},
	}}}}
	ask := func(name string) ([]infra.Volume, map[string]string) {
		t.Helper()
		provider.tags = nil
		all, err := v.List(t.Context(), map[string]string{cluster.NodeTag: "a", cluster.VolumeTag: name})
		if err != nil {
			t.Fatal(err)
		}
		return all, provider.tags
	}
	if all, _ := ask("network"); len(all) != 1 || all[0].ID != "vol-1" {
		t.Errorf("one that is named by its id: %v", all)
	}
	if _, tags := ask("old"); !maps.Equal(tags, map[string]string{"Name": "a-old"}) {
		t.Errorf("one that is named by its tags: %v", tags)
	}
	if _, tags := ask("other"); !maps.Equal(tags, map[string]string{"cluster": "orders", "node": "a", "volume": "other"}) {
		t.Errorf("one that is not named: %v", tags)
	}
}

func TestMachinesOfNodes(t *testing.T) {
	const listed = `
machines:
  db-a: {ssh: admin@db-a.example.org, become: mysql}
clusters:
  orders:
    engine: mysql
    environment: staging
    user: dba
    nodes:
      - {name: a, address: "10.0.0.1:3306", machine: db-a, service: mariadb}
      - {name: b, address: "10.0.0.2:3306", machine: "ssh:db-b"}
      - {name: c, address: "10.0.0.3:3306", machine: local}
      - {name: d, address: "10.0.0.4:3306"}
`
	inv, err := Parse("plimsoll.yaml", []byte(listed))
	if err != nil {
		t.Fatal(err)
	}
	c := inv.Clusters["orders"]
	for i, want := range []Machine{{SSH: "admin@db-a.example.org", Become: "mysql"}, {SSH: "db-b"}, {}, {}} {
		if got, reached := c.MachineOf(c.Nodes[i]); got != want || reached != (want.SSH != "") {
			t.Errorf("the machine of %s: %+v, %v, want %+v", c.Nodes[i].Name, got, reached, want)
		}
	}
	for change, want := range map[string]string{
		"machine: db-a|machine: db-z":                   `unknown machine "db-z"`,
		"machine: db-a, |":                              "without a machine on which it runs",
		"service: mariadb|service: -x":                  "expected the name of a systemd unit",
		"ssh:db-b|ssh:-oProxyCommand=evil":              "unknown machine",
		"ssh: admin@db-a.example.org|ssh: -oProxy=evil": "expected a host as ssh takes it",
		"become: mysql|become: my sql":                  "expected the name of a user",
		"  db-a: {|  local: {":                          "machine name \"local\"",
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := Parse("plimsoll.yaml", []byte(strings.Replace(listed, from, to, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s: %v, want %s", to, err, want)
		}
	}
}
