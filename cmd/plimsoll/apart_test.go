package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"slices"
	"testing"
)

const apartEnv = "PLIMSOLL_TEST_APART"

// apart runs a test in a process of its own, beside others: it changes the working folder and the environment, which are a process's.
// True means that this was done, and nothing is left to do. Short tests start nothing that is worth it.
func apart(t *testing.T) bool {
	t.Helper()
	if testing.Short() || os.Getenv(apartEnv) != "" {
		return false
	}
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	flag.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"test.run", "test.v", "test.testlogfile", "test.paniconexit0"}, f.Name) { // go test's own with this process
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	child := exec.CommandContext(t.Context(), program, args...)
	child.Env = append(os.Environ(), apartEnv+"=yes")
	said, err := child.CombinedOutput()
	t.Logf("%s", said)
	switch {
	case err != nil:
		t.Error(err)
	case bytes.Contains(said, []byte("--- SKIP: "+t.Name()+" ")):
		t.Skip("it was skipped there")
	case !bytes.Contains(said, []byte("--- PASS: "+t.Name()+" ")):
		t.Error("it was not run")
	}
	return true
}
