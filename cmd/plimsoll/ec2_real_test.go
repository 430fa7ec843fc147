package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/ssh/sshtest"
)

// The shipped runbooks name instances and volumes of EC2, and their plans show what is observed and intended. The API is a stand-in, and
// both machines are this one, over ssh: no array is there, which the plan says too.
func TestRealPlansNameInstancesAndVolumesOfEC2(t *testing.T) {
	if apart(t) {
		return
	}
	_, rig := onlySSH(t)
	said, err := os.ReadFile("plimsoll.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(string(said), `address: "`)
	address, _, _ = strings.Cut(address, `"`)
	const old, spare = "i-00000000000000001", "i-00000000000000002"
	s := awstest.NewEC2(t)
	s.AddInstance(awstest.EC2Instance{ID: old, Zone: "ap-northeast-2a"})
	s.AddInstance(awstest.EC2Instance{ID: spare, Zone: "ap-northeast-2a", Tags: map[string]string{"Name": "db-b"}})
	network := s.AddVolume("ap-northeast-2a", 100, map[string]string{"cluster": "orders", "node": "a", "volume": "network"}, old)
	s.AddVolume("ap-northeast-2a", 100, map[string]string{"cluster": "other", "node": "a", "volume": "network"}, "")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_EC2": s.URL, "AWS_REGION": "", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_CONFIG_FILE": t.TempDir() + "/none",
	} {
		t.Setenv(name, value)
	}
	write(t, "plimsoll.yaml", fmt.Sprintf(`machines:
  db-a: {ssh: %[1]s, config: %[2]s, ec2: {id: %[4]s}}
  db-b: {ssh: loader-b, config: %[2]s, ec2: {tags: {Name: db-b}}}
clusters:
  orders:
    engine: mariadb
    environment: lab
    user: root
    aws: {region: ap-northeast-2}
    nodes:
      - {name: a, address: "%[3]s", machine: db-a, service: mariadb}
      - {name: b, address: "127.0.0.1:1", machine: db-b, service: mariadb, spare: true}
`, sshtest.Alias, rig.Config, address, old), 0o600)

	out, errors, code := typed(t, "machine", "list")
	if code != 0 || !strings.Contains(out, old) || !strings.Contains(out, "Name=db-b") {
		t.Errorf("machine list: %d %s%s", code, out, errors)
	}
	out, errors, code = typed(t, "machine", "check")
	if code != 0 || !strings.Contains(out, "EC2: "+old+" is running, i4i.4xlarge in ap-northeast-2a; volumes "+network) || !strings.Contains(out, "EC2: "+spare+" is running") {
		t.Errorf("machine check: %d %s%s", code, out, errors)
	}
	for book, wants := range map[string][]string{
		"superdisk/recover-node -i lost=a": {old, "attached_to " + old + " → nothing", "→ " + spare, "running true → false"},
		"superdisk/replace-node -i node=a": {"attached_to " + old + " → nothing", "→ " + spare},
	} {
		args := append([]string{"runbook", "plan"}, strings.Fields(book)...)
		args = append(args, "--cluster", "orders", "-i", "to=b", "-i", "network=a/network", "-i", "local=AWS123", "-i", "mount=/data")
		out, errors, code := typed(t, args...)
		t.Logf("%s: %d\n%s%s", book, code, out, errors)
		if code == 0 || !strings.Contains(errors, "has no disk AWS123") {
			t.Errorf("the plan of %s takes a local disk that is not there: %d %s", book, code, errors)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("the plan of %s does not say %q", book, want)
			}
		}
	}
	for _, action := range []string{"AttachVolume", "DetachVolume", "StopInstances", "CreateTags"} {
		if n := s.Asked(action); n != 0 {
			t.Errorf("a plan did %s %d times", action, n)
		}
	}
}
