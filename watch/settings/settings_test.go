package settings

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/infra/local"
	"plimsoll/internal/document"
	"plimsoll/watch"
	"plimsoll/watch/collect"
)

func TestReadsSettings(t *testing.T) {
	s, err := Parse("watch.yaml", []byte(`
keep: {age: 30d, bytes: 20GiB}
rules: [mine.yml]
notify:
  - slack: {env: SLACK_URL}
  - mail: {server: "mail:25", from: a@example.org, to: [b@example.org]}
shard: 2/3
address: https://plimsoll.example:7443
`))
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(s.Keep.Age) != 30*24*time.Hour || s.Keep.Bytes != 20<<30 {
		t.Errorf("%+v", s.Keep)
	}
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tellers(t.Context(), m); err == nil {
		t.Error("a variable that is not set was taken")
	}
	t.Setenv("SLACK_URL", "http://127.0.0.1/x")
	if tellers, err := s.Tellers(t.Context(), m); err != nil || len(tellers) != 2 || tellers[0].Name() != "slack" {
		t.Errorf("%+v, %v", tellers, err)
	}
}

func TestRefusesWithThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"keep: {age: long}":                                    "expected a time such as",
		"keep: {bytes: 20}":                                    "expected a size such as",
		"notify: [{}]":                                         "0 receivers in one entry",
		"notify: [{slack: {env: A, file: b}}]":                 "2 sources for a secret",
		"queries: [{name: A-b, sql: SELECT 1}]":                "expected lower-case letters",
		"queries: [{name: a, sql: SELECT 1, timeout: 90s}]":    "at most 20s",
		"address: plimsoll.example:7443":                       "expected the address of the page",
		"shard: 4/3":                                           "expected such as 2/5",
		"aws: [{tags: {}, environment: lab, user: a}]":         "every instance of the region",
		"aws: [{tags: {team: a}, environment: live, user: a}]": `unknown environment "live"`,
		"rulez: []": `unknown key "rulez"`,
		"notify: [{slack: {env: A}, webhook: {env: B}}]": "2 receivers",
	} {
		if _, err := Parse("watch.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "watch.yaml:1") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestEveryInstanceIsWatchedOnce(t *testing.T) {
	var all []watch.Source
	for n := range 100 {
		all = append(all, watch.Source{Instance: watch.Instance{Name: fmt.Sprintf("c/n%d", n)}})
	}
	seen := map[string]int{}
	for n := range 3 {
		s := Settings{Shard: fmt.Sprintf("%d/3", n+1)}
		mine := s.Mine(all)
		if len(mine) < 15 {
			t.Errorf("shard %s has %d of 100", s.Shard, len(mine))
		}
		for _, source := range mine {
			seen[source.Instance.Name]++
		}
	}
	for name, times := range seen {
		if times != 1 {
			t.Errorf("%s is watched %d times", name, times)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 are watched", len(seen))
	}
}

// The page shows an example that is read, and says of every key what it is.
func TestThePageOfTheSettings(t *testing.T) {
	page, err := os.ReadFile("../../docs/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```yaml\n# watch.yaml\n")
	example, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("there is no example")
	}
	if _, err := Parse("watch.yaml", []byte(example)); err != nil {
		t.Error(err)
	}
	for _, of := range []any{Settings{}, Keep{}, Notify{}, Mail{}, OpenSearch{}, RemoteWrite{}, AWS{}, collect.Query{}} {
		for _, key := range document.Keys(reflect.TypeOf(of)) {
			if !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(example, key+":") {
				t.Errorf("nothing is said of %s of %T", key, of)
			}
		}
	}
}
