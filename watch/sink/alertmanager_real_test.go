package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/prometheustest"
	"plimsoll/watch/rules"
)

// A real Alertmanager takes an alert, has it with all that it says until it is resolved, and passes both on to whoever it is set up to tell.
func TestTellsARealAlertmanager(t *testing.T) {
	program, folder := prometheustest.Program(t, "prometheus-alertmanager"), t.TempDir()
	passed := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		passed <- string(body)
	}))
	defer receiver.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "alertmanager.yml")
	text := fmt.Sprintf("route: {receiver: test, group_wait: 0s, group_interval: 1s, group_by: [alertname]}\nreceivers: [{name: test, webhook_configs: [{url: %q, send_resolved: true}]}]\n", receiver.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), program, "--config.file="+config, "--storage.path="+folder+"/data", "--web.listen-address="+address, "--cluster.listen-address=")
	if _, err := os.Stat("/usr/share/prometheus/alertmanager/default.tmpl"); err != nil {
		// It is unpacked and not installed, and looks for its own files at their place: it is given them there, in a name space of its own.
		share := filepath.Join(filepath.Dir(filepath.Dir(program)), "share")
		script := `mount --bind "$1" /usr/share && shift && exec "$@"`
		server = exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "--map-root-user", "sh", "-c", script, "sh", share}, server.Args...)...)
	}
	var said bytes.Buffer
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill() // it is of no use any more
		_ = server.Wait()
	}()
	to := Alertmanager{engine.Secret("http://" + address)}
	n := notice()
	n.Alerts[0].Since = time.Now().Add(-time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		if err = to.Tell(t.Context(), n); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	var active []struct {
		Labels, Annotations map[string]string
		StartsAt, EndsAt    time.Time
		Status              struct{ State string }
	}
	list := func() {
		t.Helper()
		answer, err := http.Get("http://" + address + "/api/v2/alerts") //nolint:noctx // it ends with the test
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }() // it was only read
		active = nil
		if err := json.NewDecoder(answer.Body).Decode(&active); err != nil {
			t.Fatal(err)
		}
	}
	list()
	if len(active) != 1 || active[0].Labels["instance"] != "orders/n1" || active[0].Annotations["runbook"] != "mysql/failover" || active[0].Annotations["do"] != "Fail over." {
		t.Fatalf("it has %+v", active)
	}
	if left := time.Until(active[0].EndsAt); left < 3*time.Minute || left > 5*time.Minute || !active[0].StartsAt.Before(time.Now().Add(-50*time.Second)) {
		t.Errorf("it takes it for resolved in %s, begun %s", left, active[0].StartsAt)
	}
	hears := func(want string) {
		t.Helper()
		select {
		case body := <-passed:
			if !strings.Contains(body, want) || !strings.Contains(body, "orders/n1") {
				t.Errorf("it passed on %s, want %s", body, want)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("it passed on nothing with %s", want)
		}
	}
	hears(`"status":"firing"`)
	n.State, n.Alerts[0].State, n.Alerts[0].Resolved = rules.Resolved, rules.Resolved, time.Now()
	if err := to.Tell(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	hears(`"status":"resolved"`)
	if list(); len(active) != 0 {
		t.Errorf("it still has %+v", active)
	}
}
