// Package settings reads watch.yaml: how long series are kept, which rules hold, who is told, and where series and documents go.
package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"time"

	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/watch/collect"
	"plimsoll/watch/rules"
	"plimsoll/watch/sink"
)

// File is the name of the settings, looked for in the working folder.
const File = "watch.yaml"

// Settings is the file as read and checked. The zero value is a watch that keeps series for 15 days and tells nobody.
type Settings struct {
	Keep        Keep            `yaml:"keep" doc:"How much data to keep."`
	Rules       []string        `yaml:"rules" doc:"Files of rules in Prometheus' format, in addition to the built-in ones."`
	Shipped     *bool           `yaml:"shipped_rules" doc:"Whether the built-in rules are active. Default: true."`
	Notify      []Notify        `yaml:"notify" doc:"Receivers of alerts."`
	Address     string          `yaml:"address" doc:"The address at which people open the web page, such as https://plimsoll.example:7443: notifications link to it. Default: where plimsoll serve listens, unless only this machine reaches that address, or it is every address of the machine."`
	Repeat      Span            `yaml:"repeat" doc:"How often a firing alert is sent again. Default: 4h."`
	Queries     []collect.Query `yaml:"queries" doc:"SQL queries of your own, stored as series and documents."`
	RemoteWrite []RemoteWrite   `yaml:"remote_write" doc:"Where to send series in addition to the local store."`
	OpenSearch  *OpenSearch     `yaml:"opensearch" doc:"Where to send documents."`
	AWS         []AWS           `yaml:"aws" doc:"Finds instances of RDS and Aurora by their tags."`
	Shard       string          `yaml:"shard" doc:"2/5: this is the second of five processes that divide the instances among them."`
}

// Keep is how much is kept.
type Keep struct {
	Age   Span `yaml:"age" doc:"Age after which series are deleted. Default: 15d."`
	Bytes Size `yaml:"bytes" doc:"Size on disk above which the oldest are deleted. Default: no limit."`
}

// Notify is one receiver of notices. One of its keys is set.
type Notify struct {
	Slack        *inventory.Secret `yaml:"slack" doc:"Where to find the URL of an incoming webhook of Slack, or of a compatible service."`
	Webhook      *inventory.Secret `yaml:"webhook" doc:"Where to find the URL for notifications in the format of Alertmanager's webhook."`
	Alertmanager *inventory.Secret `yaml:"alertmanager" doc:"Where to find the URL of an Alertmanager, without /api."`
	Mail         *Mail             `yaml:"mail" doc:"Mail."`
}

// Mail says from whom, to whom and by which server notices are mailed.
type Mail struct {
	Server   string            `yaml:"server,required" doc:"host:port."`
	From     string            `yaml:"from,required" doc:"The sender."`
	To       []string          `yaml:"to,required" doc:"The receivers."`
	User     string            `yaml:"user" doc:"The user to log in as. Default: no login."`
	Password *inventory.Secret `yaml:"password" doc:"Where to find the password."`
}

// OpenSearch is where documents go.
type OpenSearch struct {
	URL      string            `yaml:"url,required" doc:"https://host:9200."`
	User     string            `yaml:"user" doc:"The user to log in as."`
	Password *inventory.Secret `yaml:"password" doc:"Where to find the password."`
	Stream   string            `yaml:"stream" doc:"The name of the data stream. Default: plimsoll-watch."`
	Keep     Span              `yaml:"keep" doc:"Documents older than this are deleted. Default: 30d."`
	Spool    Size              `yaml:"spool" doc:"How much is stored on disk while OpenSearch does not answer. Default: 1GiB."`
}

// AWS finds instances of RDS and Aurora by their tags. Credentials are those of the AWS command line; none stand here.
type AWS struct {
	Region      string            `yaml:"region" doc:"The region, such as ap-northeast-2. Default: from the configuration of the AWS command line."`
	Profile     string            `yaml:"profile" doc:"The profile of the AWS command line. Default: its default profile."`
	Tags        map[string]string `yaml:"tags,required" doc:"Tags that an instance must have, all of them; an empty value matches any."`
	Environment string            `yaml:"environment,required" doc:"lab, staging or production."`
	User        string            `yaml:"user,required" doc:"The user that Plimsoll logs in as."`
	Password    *inventory.Secret `yaml:"password" doc:"Where to find the password. Default: no password."`
	Options     map[string]string `yaml:"options" doc:"Options of the engine's driver, such as tls: required."`
}

// RemoteWrite is a store that takes Prometheus' remote write.
type RemoteWrite struct {
	URL      string            `yaml:"url,required" doc:"http://host:9090/api/v1/write."`
	User     string            `yaml:"user" doc:"The user to log in as."`
	Password *inventory.Secret `yaml:"password" doc:"Where to find the password."`
}

// Read reads the settings. A file that is not there is empty.
func Read(path string) (*Settings, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Settings{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings file of the watch: %w", err)
	}
	return Parse(path, data)
}

// Parse is Read of a text.
func Parse(name string, data []byte) (*Settings, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	var s Settings
	if err := root.Decode(&s); err != nil {
		return nil, err
	}
	for n, one := range s.Notify {
		at := root.Get("notify").Items[n]
		given := 0
		for key, secret := range map[string]*inventory.Secret{"slack": one.Slack, "webhook": one.Webhook, "alertmanager": one.Alertmanager} {
			if secret == nil {
				continue
			}
			given++
			if err := secret.Check(at.Get(key)); err != nil {
				return nil, err
			}
		}
		if one.Mail != nil {
			given++
		}
		if given != 1 {
			return nil, at.Errorf("%d receivers in one entry, expected one of slack, webhook, alertmanager or mail", given)
		}
	}
	for n, a := range s.AWS {
		at := root.Get("aws").Items[n]
		if a.Password != nil {
			if err := a.Password.Check(at.Get("password")); err != nil {
				return nil, err
			}
		}
		if !slices.Contains(cluster.Environments(), a.Environment) {
			return nil, document.UnknownName(at.Get("environment"), "environment", cluster.Environments())
		}
		if len(a.Tags) == 0 {
			return nil, at.Get("tags").Errorf("no tags, which would match every instance of the region: name one, such as team: shop")
		}
	}
	for n, q := range s.Queries {
		if err := q.Check(); err != nil {
			return nil, root.Get("queries").Items[n].Errorf("%s", err)
		}
	}
	if at, err := url.Parse(s.Address); err != nil || s.Address != "" && (at.Host == "" || at.Scheme != "http" && at.Scheme != "https") {
		return nil, root.Get("address").Errorf("%q, expected the address of the page, such as https://plimsoll.example:7443", s.Address)
	}
	if _, _, err := s.share(); err != nil {
		return nil, root.Get("shard").Errorf("%s", err)
	}
	return &s, nil
}

// Tellers are the receivers of notices as the file has them, with their secrets read.
func (s *Settings) Tellers(ctx context.Context, here infra.Machine) (all []rules.Teller, err error) {
	for _, n := range s.Notify {
		teller, err := n.teller(ctx, here)
		if err != nil {
			return nil, fmt.Errorf("receivers of alerts: %w", err)
		}
		all = append(all, teller)
	}
	return all, nil
}

func (n Notify) teller(ctx context.Context, here infra.Machine) (rules.Teller, error) {
	if n.Mail != nil {
		password, err := n.Mail.Password.Value(ctx, here)
		return sink.Mail{Server: n.Mail.Server, From: n.Mail.From, To: n.Mail.To, User: n.Mail.User, Password: password}, err
	}
	for _, secret := range []*inventory.Secret{n.Slack, n.Webhook, n.Alertmanager} {
		if secret == nil {
			continue
		}
		url, err := secret.Value(ctx, here)
		switch secret {
		case n.Slack:
			return sink.Slack{URL: url}, err
		case n.Webhook:
			return sink.Webhook{URL: url}, err
		default:
			return sink.Alertmanager{URL: url}, err
		}
	}
	return nil, errors.New("no receiver is named")
}

// Remotes are the stores that series go to beside the own one; their passwords are fetched.
func (s *Settings) Remotes(ctx context.Context, here infra.Machine, log *slog.Logger) (all []*sink.RemoteWrite, err error) {
	for _, w := range s.RemoteWrite {
		password, err := w.Password.Value(ctx, here)
		if err != nil {
			return nil, fmt.Errorf("remote write to %s: %w", w.URL, err)
		}
		all = append(all, &sink.RemoteWrite{URL: w.URL, User: w.User, Password: password, Log: log})
	}
	return all, nil
}

// Documents is where documents go, with its spool in a folder; nil if nowhere.
func (s *Settings) Documents(ctx context.Context, here infra.Machine, folder string, log *slog.Logger) (*sink.OpenSearch, error) {
	o := s.OpenSearch
	if o == nil {
		return nil, nil
	}
	password, err := o.Password.Value(ctx, here)
	if err != nil {
		return nil, fmt.Errorf("OpenSearch at %s: %w", o.URL, err)
	}
	return sink.NewOpenSearch(sink.OpenSearchConfig{
		URL: o.URL, User: o.User, Password: password, Stream: cmp.Or(o.Stream, "plimsoll-watch"), Keep: cmp.Or(time.Duration(o.Keep), 30*24*time.Hour),
		Folder: folder, Spool: cmp.Or(int64(o.Spool), 1<<30), Log: log,
	})
}
