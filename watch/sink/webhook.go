// Package sink sends what a watch found out to where people and programs take it: chats, mail, an Alertmanager, a store that speaks
// Prometheus' remote write, OpenSearch.
package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
	"plimsoll/watch/rules"
)

// post sends JSON and takes any status of success.
func post(ctx context.Context, client *http.Client, url engine.Secret, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, string(url), bytes.NewReader(data))
	if err != nil {
		return url.Redact(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return url.Redact(err)
	}
	defer func() { _ = answer.Body.Close() }()                      // it was only read
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("answered %s", answer.Status)
	}
	return nil
}

var client = &http.Client{Timeout: 10 * time.Second}

// Webhook posts notices in the form of Alertmanager's webhook, version 4. A URL often holds a token: it is a secret.
type Webhook struct{ URL engine.Secret }

// Slack posts notices to an incoming webhook of Slack, Mattermost, Rocket.Chat or what else takes a text so.
type Slack struct{ URL engine.Secret }

// Alertmanager posts alerts to an Alertmanager, which groups, silences and repeats by itself.
type Alertmanager struct{ URL engine.Secret }

var (
	_ rules.Teller = Webhook{}
	_ rules.Teller = Slack{}
	_ rules.Keeper = Alertmanager{}
)

func (Webhook) Name() string      { return "webhook" }
func (Slack) Name() string        { return "slack" }
func (Alertmanager) Name() string { return "alertmanager" }

// webhookAlert is one alert as Alertmanager writes it.
type webhookAlert struct {
	Status      string            `json:"status,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt,omitzero"`
	Page        string            `json:"generatorURL,omitempty"`
}

func alertOf(n rules.Notice, a watch.Alert) webhookAlert {
	w := webhookAlert{Status: a.State, Labels: a.Labels, StartsAt: a.Since, Page: n.Page(a), Annotations: map[string]string{"summary": a.Summary}}
	for name, text := range map[string]string{"why": a.Why, "do": a.Do, "runbook": a.Runbook, "inputs": a.Inputs, "command": a.Command()} {
		if text != "" {
			w.Annotations[name] = text
		}
	}
	if a.State == rules.Resolved {
		w.EndsAt = a.Resolved
	}
	return w
}

// Tell implements rules.Teller.
func (s Webhook) Tell(ctx context.Context, n rules.Notice) error {
	body := struct {
		Version           string            `json:"version"`
		GroupKey          string            `json:"groupKey"`
		Status            string            `json:"status"`
		Receiver          string            `json:"receiver"`
		GroupLabels       map[string]string `json:"groupLabels"`
		CommonLabels      map[string]string `json:"commonLabels"`
		CommonAnnotations map[string]string `json:"commonAnnotations"`
		ExternalURL       string            `json:"externalURL"`
		Alerts            []webhookAlert    `json:"alerts"`
	}{
		Version: "4", GroupKey: n.Rule + "/" + n.Cluster, Status: n.State, Receiver: "plimsoll",
		GroupLabels: map[string]string{"alertname": n.Rule, "cluster": n.Cluster}, CommonLabels: map[string]string{"alertname": n.Rule, "cluster": n.Cluster},
		CommonAnnotations: map[string]string{}, ExternalURL: n.Address,
	}
	for _, a := range n.Alerts {
		body.Alerts = append(body.Alerts, alertOf(n, a))
	}
	return post(ctx, client, s.URL, body)
}

// Tell implements rules.Teller.
func (s Slack) Tell(ctx context.Context, n rules.Notice) error {
	return post(ctx, client, s.URL, map[string]string{"text": letter(n)})
}

// Tell implements rules.Teller.
func (s Alertmanager) Tell(ctx context.Context, n rules.Notice) error {
	var all []webhookAlert
	for _, a := range n.Alerts {
		alert := alertOf(n, a)
		if alert.Status = ""; a.State == rules.Firing {
			alert.EndsAt = time.Now().Add(4 * s.Every()) // if it hears nothing more from here, as Prometheus has it
		}
		all = append(all, alert)
	}
	return post(ctx, client, s.URL+"/api/v2/alerts", all)
}

// Every implements rules.Keeper: an Alertmanager takes an alert for resolved of which it hears nothing for minutes.
func (Alertmanager) Every() time.Duration { return time.Minute }

// letter is a notice for people.
func letter(n rules.Notice) string {
	var out bytes.Buffer
	fmt.Fprintln(&out, n.Title())
	for _, a := range n.Alerts {
		switch page := n.Page(a); {
		case len(n.Alerts) == 1:
		case page != "" && n.State == rules.Firing:
			fmt.Fprintf(&out, "• %s: %s\n", a.Summary, page)
		default:
			fmt.Fprintf(&out, "• %s\n", a.Summary)
		}
	}
	if n.State == rules.Firing {
		a := n.Alerts[0]
		if a.Why != "" {
			fmt.Fprintf(&out, "Why: %s\n", a.Why)
		}
		if a.Do != "" {
			fmt.Fprintf(&out, "Do: %s\n", a.Do)
		}
		switch command := a.Command(); {
		case a.Trial() != "":
			fmt.Fprintf(&out, "Trial: %s\n", command)
		case command != "":
			fmt.Fprintf(&out, "Runbook: %s\n", command)
		case a.Runbook != "":
			fmt.Fprintf(&out, "Runbook: %s\n", a.Runbook)
		}
	}
	if page := n.Page(n.Alerts[0]); len(n.Alerts) == 1 && page != "" && n.State == rules.Firing {
		fmt.Fprintf(&out, "See: %s\n", page)
	}
	return out.String()
}
