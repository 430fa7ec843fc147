package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileOfAnotherKindIsRefusedAsSuch(t *testing.T) {
	for text, want := range map[string]string{
		"runbook: own/a\nsteps: []\n":                  "a.yaml:1:1: this is a runbook, expected a trial (plimsoll runbook validate a.yaml)",
		"clusters: {}\n":                               "a.yaml:1:1: this is an inventory, expected a trial (plimsoll machine list --inventory a.yaml)",
		"workload: mine\noperations: []\n":             "a.yaml:1:1: this is a workload, expected a trial (plimsoll load run --target FILL_IN --workload a.yaml)",
		"trial: a\nrunbook: mysql/rejoin\nsteps: []\n": "",
		"question: what is this\n":                     "",
	} {
		root, err := Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		if err := OtherKind(root, "trial"); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%q: %q, want %q", text, said, want)
		}
	}
}

func TestNearestPath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, folder := range []string{"examples/demo", "examples/failover"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "trial.yaml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("a.yaml", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for wrote, want := range map[string]string{
		"examples/dmeo/trial.yaml": "examples/demo/trial.yaml", "exmaples/demo/trail.yaml": "examples/demo/trial.yaml", "examples/fail": "", // a folder is no file
		"my.yaml": "", "b1.yaml": "", "examples/demo/b.yaml": "",
		"examples/failovr/trial.yaml":     "examples/failover/trial.yaml",
		here + "/examples/demo/tril.yaml": here + "/examples/demo/trial.yaml", "nothing/like/it": "", "examples/demo/trial.yaml": "", "examples/demo/zzzzzz.yaml": "",
	} {
		if got := NearestPath(wrote); got != want {
			t.Errorf("%s: %q, want %q", strings.TrimPrefix(wrote, here), got, want)
		}
	}
}
