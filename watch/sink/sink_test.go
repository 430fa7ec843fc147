package sink

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
	"plimsoll/watch/rules"
)

func notice() rules.Notice {
	return rules.Notice{Rule: "InstanceDown", Cluster: "orders", State: rules.Firing, Alerts: []watch.Alert{{
		Rule: "InstanceDown", Instance: "orders/n1", State: rules.Firing, Summary: "orders/n1 does not answer", Why: "It is gone.", Do: "Fail over.", Runbook: "mysql/failover",
		Labels: map[string]string{"alertname": "InstanceDown", "instance": "orders/n1", "severity": "critical"}, Since: time.Unix(1700000000, 0).UTC(),
	}}}
}

func TestWhatIsPosted(t *testing.T) {
	var path string
	var body []byte
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(status)
	}))
	defer server.Close()
	for _, c := range []struct {
		to   rules.Teller
		path string
		want []string
	}{
		{Webhook{engine.Secret(server.URL + "/hook")}, "/hook", []string{`"version":"4"`, `"status":"firing"`, `"startsAt":"2023-11-14T22:13:20Z"`, `"do":"Fail over."`, `"command":"plimsoll runbook plan mysql/failover --cluster orders`}},
		{Slack{engine.Secret(server.URL + "/slack")}, "/slack", []string{`"text":"[FIRING] orders/n1 does not answer\n`, "Runbook: plimsoll runbook plan mysql/failover --cluster orders"}},
		{Alertmanager{engine.Secret(server.URL)}, "/api/v2/alerts", []string{`"alertname":"InstanceDown"`, `"annotations":{`, `"command":"plimsoll runbook plan mysql/failover --cluster orders`}},
	} {
		if err := c.to.Tell(t.Context(), notice()); err != nil {
			t.Fatal(err)
		}
		if path != c.path || !json.Valid(body) {
			t.Errorf("%s posted to %s: %s", c.to.Name(), path, body)
		}
		for _, want := range c.want {
			if !strings.Contains(string(body), want) {
				t.Errorf("%s: no %s in %s", c.to.Name(), want, body)
			}
		}
	}
	known := notice()
	known.Address = "https://plimsoll.example:7443"
	page := known.Address + known.Alerts[0].Page()
	for to, want := range map[rules.Teller][]string{
		Webhook{engine.Secret(server.URL)}:      {`"externalURL":"https://plimsoll.example:7443"`, `"generatorURL":"` + page + `"`},
		Slack{engine.Secret(server.URL)}:        {`See: ` + page + `\n`},
		Alertmanager{engine.Secret(server.URL)}: {`"generatorURL":"` + page + `"`},
	} {
		err := to.Tell(t.Context(), known)
		for _, one := range want {
			if err != nil || !strings.Contains(string(body), one) {
				t.Errorf("%s does not lead to the alert, %s: %s, %v", to.Name(), one, body, err)
			}
		}
	}
	several := known
	second := several.Alerts[0]
	second.Labels, second.Summary = map[string]string{"cluster": "orders", "instance": "orders/n2"}, "orders/n2 does not answer"
	several.Alerts = []watch.Alert{several.Alerts[0], second}
	for _, c := range []struct{ state, want string }{
		{rules.Firing, "• orders/n1 does not answer: " + page + "\n• orders/n2 does not answer: " + known.Address + second.Page() + "\n"},
		{rules.Resolved, "• orders/n1 does not answer\n• orders/n2 does not answer\n"},
	} {
		several.State = c.state
		if text := letter(several); !strings.Contains(text, c.want) || strings.Contains(text, "See: ") {
			t.Errorf("a notice of several alerts, %s, does not name each link: %s", c.state, text)
		}
	}
	trial := notice()
	trial.Alerts[0].Runbook = "examples/commit-path/trial.yaml"
	if err := (Slack{engine.Secret(server.URL)}).Tell(t.Context(), trial); err != nil || !strings.Contains(string(body), `Trial: plimsoll trial run examples/commit-path/trial.yaml\n`) {
		t.Errorf("the notice of a rule that names a trial: %s, %v", body, err)
	}
	status = http.StatusServiceUnavailable
	if err := (Slack{engine.Secret(server.URL)}).Tell(t.Context(), notice()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a refusal: %v", err)
	}
	if err := (Slack{"http://127.0.0.1:1/secret-token"}).Tell(t.Context(), notice()); err == nil || strings.Contains(err.Error(), "secret-token") {
		t.Errorf("the error shows the token: %v", err)
	}
}

func TestMail(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // the test has ended
	got := make(chan string, 1)
	go func() { got <- takeMail(listener) }()
	m := Mail{Server: listener.Addr().String(), From: "plimsoll@example.org", To: []string{"dba@example.org"}}
	if err := m.Tell(t.Context(), notice()); err != nil {
		t.Fatal(err)
	}
	letter := <-got
	for _, want := range []string{"Subject: [FIRING] orders/n1 does not answer\r\n", "To: dba@example.org\r\n", "Do: Fail over."} {
		if !strings.Contains(letter, want) {
			t.Errorf("no %q in\n%s", want, letter)
		}
	}
}

// takeMail speaks as much SMTP as it takes to be sent one letter.
func takeMail(listener net.Listener) string {
	conn, err := listener.Accept()
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close() }()                                   // the test has ended
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") } // the other side notices
	say("220 test")
	var letter strings.Builder
	data := false
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		switch {
		case err != nil:
			return letter.String()
		case data && line == ".\r\n":
			data = false
			say("250 taken")
		case data:
			letter.WriteString(line)
		case strings.HasPrefix(line, "DATA"):
			data = true
			say("354 go on")
		case strings.HasPrefix(line, "QUIT"):
			say("221 bye")
			return letter.String()
		default:
			say("250 ok")
		}
	}
}
