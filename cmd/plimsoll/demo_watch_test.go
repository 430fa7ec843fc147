package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/watch"
)

// make demo-watch brings three servers up with a load, of which a replica falls behind; the page shows it, and after Ctrl-C nothing of it
// runs any more and no file is left.
func TestSoakDemoWatch(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes a minute: make soak")
	}
	program, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	demo := exec.CommandContext(t.Context(), "../../examples/watch/demo.sh", program, "127.0.0.1:0")
	demo.Env = append(os.Environ(), "TMPDIR="+folder)
	demo.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a terminal has it, which sends Ctrl-C to all of them
	var said bytes.Buffer
	demo.Stderr = &said
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = syscall.Kill(-demo.Process.Pid, syscall.SIGTERM) // it may have ended
			_ = demo.Wait()                                      // how it ended tells nothing
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("it says no address: %v, %s", err, &said)
	}
	page := enterDemo(t, strings.TrimSpace(line))
	var fleet struct{ Instances []watch.Instance }
	behind, loaded, row := 0.0, 0.0, ""
	for end := time.Now().Add(2 * time.Minute); len(fleet.Instances) != 3 || behind < 3 || loaded < 20 || !showsLag.MatchString(row); time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("n3 is %g s behind, n1 does %g statements a second: %+v, %s, %s", behind, loaded, fleet.Instances, row, &said)
		}
		row = rowOfTheReplica.FindString(page("/fleet", "text/html"))
		fleet.Instances = nil // or what an instance no longer shows would stay
		if err := json.Unmarshal([]byte(page("/fleet", "application/json")), &fleet); err != nil {
			t.Fatal(err)
		}
		for _, i := range fleet.Instances {
			if i.Name == "demo/n1" && i.Throughput != nil {
				loaded = max(loaded, *i.Throughput)
			}
			for _, c := range i.Channels {
				if i.Name == "demo/n3" && c.Lag != nil {
					behind = max(behind, *c.Lag)
				}
			}
		}
	}
	if err := syscall.Kill(-demo.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err = demo.Wait()
	ended = true
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("it ended with %v, %s", err, &said)
	}
	for _, one := range processesOf(t, folder) {
		t.Errorf("it is left running: %s", one)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("it is left on disk: %v, %v", left, err)
	}
}

var (
	rowOfTheReplica = regexp.MustCompile(`(?s)<tr data-key="demo/n3".*?</tr>`)
	showsLag        = regexp.MustCompile(`data-label="lag" class="n">[1-9][0-9.]*.s<`)
)

// enterDemo logs in at the address that plimsoll serve prints and returns what reads a page, as HTML or JSON.
func enterDemo(t *testing.T, address string) func(path, as string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("code") == "" {
		t.Fatalf("the address is %q, %v", address, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	base := u.Scheme + "://" + u.Host
	answer, err := client.PostForm(base+"/enter", url.Values{"code": {u.Query().Get("code")}})
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK || answer.Request.URL.Path != "/" {
		t.Fatalf("logging in is answered %d at %s", answer.StatusCode, answer.Request.URL)
	}
	return func(path, as string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", as)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s is answered %d, %v", path, answer.StatusCode, err)
		}
		return string(text)
	}
}

// processesOf are those that have a folder in their command line, in their environment or as where they work.
func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, one := range all {
		command, _ := os.ReadFile(filepath.Join(one, "cmdline")) // it may have ended
		environment, _ := os.ReadFile(filepath.Join(one, "environ"))
		where, _ := os.Readlink(filepath.Join(one, "cwd"))
		if bytes.Contains(command, []byte(folder)) || bytes.Contains(environment, []byte(folder)) || strings.HasPrefix(where, folder) {
			found = append(found, filepath.Base(one)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}
