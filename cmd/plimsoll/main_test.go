package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts run this program as the command plimsoll.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"plimsoll": main})
}

func TestScripts(t *testing.T) { scripts(t, "testdata/script") }

// TestRealScripts are scripts that start real servers.
func TestRealScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	scripts(t, "testdata/real")
}

func scripts(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := os.Getenv("PLIMSOLL_CACHE")
	if cache == "" {
		if cache, err = os.UserCacheDir(); err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(cache, "plimsoll")
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", root)
			env.Setenv("PLIMSOLL_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("PLIMSOLL_CACHE", cache)
			env.Setenv("NO_COLOR", "1")
			env.Defer(func() { // whatever a script that failed left running
				down := exec.CommandContext(context.Background(), os.Args[0])
				down.Path, down.Args = filepath.Join(filepath.SplitList(env.Getenv("PATH"))[0], "plimsoll"), []string{"plimsoll", "lab", "down", "--all"}
				down.Env = env.Vars
				_ = down.Run() // there is nothing more to be done about it
			})
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// exits runs plimsoll and checks its exit code: exits CODE ARG…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	err := ts.Exec("plimsoll", args[1:]...)
	code := "0"
	if err != nil {
		code = err.Error()
		if text, is := exitText(err); is {
			code = text
		}
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

func exitText(err error) (string, bool) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", false
	}
	return strconv.Itoa(exit.ExitCode()), true
}
