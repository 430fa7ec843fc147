package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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
	t.Parallel()
	scripts(t, "testdata/real")
}

// TestSoakScripts are scripts that take many minutes of a processor, of machines with kernels of their own: make soak, docs/soak.md.
func TestSoakScripts(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes many minutes: make soak")
	}
	scripts(t, "testdata/soak")
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
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "answers": answers, "passes": passes, "service": service, "capture": capture, "fill": fill, "awaits": awaits, "follows": follows, "production": production},
	})
}

// service serves over HTTP until the script ends; $SERVICE is where. It lets in app with the password secret.
func service(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: service")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "app" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	ts.Defer(server.Close)
	ts.Setenv("SERVICE", strings.Replace(server.URL, "://", "://app@", 1)+"/api")
}

// awaits waits until something that runs in the background has made a file: for longer than the minute between two looks of a watch.
func awaits(ts *testscript.TestScript, _ bool, args []string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(3 * time.Minute); ; <-tick.C {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s did not come", args[0])
		}
	}
}

// exits runs plimsoll and checks its exit code: exits CODE ARG…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	checkExit(ts, ts.Exec("plimsoll", args[1:]...), args[0])
}

func checkExit(ts *testscript.TestScript, err error, want string) {
	code := "0"
	if err != nil {
		code = err.Error()
		if text, is := exitText(err); is {
			code = text
		}
	}
	if code != want {
		ts.Fatalf("exit code %s, want %s", code, want)
	}
}

// follows types a command that the last output advises, or one that was kept in a file, word for word, and checks its exit code: follows CODE
// REGEXP [FILE]. What stands for something of the person's own is filled in; a confirmation that is asked for is given.
func follows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: follows CODE REGEXP [FILE]")
	}
	said := ts.ReadFile("stderr") + ts.ReadFile("stdout")
	if len(args) == 3 {
		said = ts.ReadFile(args[2])
	}
	advised := strings.TrimRight(regexp.MustCompile(args[1]).FindString(said), ".,;:")
	if advised == "" {
		ts.Fatalf("nothing advises %s: %s", args[1], said)
	}
	words := strings.Fields(strings.NewReplacer("REASON", "advised", "'", "").Replace(advised)) // as a shell takes it
	err := ts.Exec(words[0], words[1:]...)
	if strings.Contains(ts.ReadFile("stderr"), "add --yes to confirm it") {
		err = ts.Exec(words[0], append(words[1:], "--yes")...)
	}
	checkExit(ts, err, args[0])
}

// answers runs a trial and checks its exit code: answers CODE DIR ARG…, where DIR is its result. While the machine is so busy
// that the trial says INVALID of itself it is run again, as a person would.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: answers CODE DIR ARG…")
	}
	for try := 1; ; try++ {
		err := trialInto(ts, args[1], args[2:])
		if code, _ := exitText(err); code != invalid || try == tries {
			checkExit(ts, err, args[0])
			return
		}
	}
}

// passes runs trials until so many in a row have passed: passes NUMBER DIR ARG…, where DIR1, DIR2, … are their results.
func passes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: passes NUMBER DIR ARG…")
	}
	number, err := strconv.Atoi(args[0])
	ts.Check(err)
	for passed, try := 0, 1; passed < number; passed, try = passed+1, try+1 {
		err := trialInto(ts, args[1]+strconv.Itoa(passed+1), args[2:])
		if code, _ := exitText(err); code == invalid && try < tries*number {
			passed = -1
			continue
		}
		checkExit(ts, err, "0")
	}
}

const (
	invalid = "5" // the exit code of a trial that the machine, not the database, decided
	tries   = 20
)

func trialInto(ts *testscript.TestScript, dir string, args []string) error {
	ts.Check(os.RemoveAll(ts.MkAbs(dir)))
	return ts.Exec("plimsoll", append([]string{"trial", "run", "--out", dir}, args...)...)
}

func exitText(err error) (string, bool) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", false
	}
	return strconv.Itoa(exit.ExitCode()), true
}

// capture keeps what the last command printed, on either output, where a pattern's group matches: capture NAME PATTERN.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if len(found) != 2 {
		ts.Fatalf("%s is nowhere in what was printed", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// production starts a database that stands for one in production, as it is there before a script begins: $ADDRESS is where, and PLIMSOLL_PASSWORD is
// the password of its account plimsoll.
func production(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: production")
	}
	ts.Check(ts.Exec("plimsoll", "lab", "up", "mariadb", "--name", "prod", "--set", "innodb_buffer_pool_size=64M", "--json"))
	capture(ts, false, []string{"ADDRESS", `"(127[.0-9]+:[0-9]+)"`})
	password, err := os.ReadFile(filepath.Join(ts.Getenv("PLIMSOLL_HOME"), "lab", "prod", "password"))
	ts.Check(err)
	ts.Setenv("PLIMSOLL_PASSWORD", strings.TrimSuffix(string(password), "\n"))
}

// fill puts the values of variables into a file: fill FILE.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fill FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}
