package settings

import (
	"testing"

	"plimsoll/internal/document/documenttest"
)

func TestNoSettingsPanic(t *testing.T) {
	const whole = `
keep: {age: 30d, bytes: 20GiB}
rules: [mine.yml]
shipped_rules: true
repeat: 4h
notify:
  - slack: {env: SLACK_URL}
  - mail: {server: "mail:25", from: a@example.org, to: [b@example.org], user: u, password: {env: PW}}
queries: [{name: a, sql: SELECT 1, timeout: 9s}]
remote_write: [{url: "http://host:9090/api/v1/write", user: u, password: {env: PW}}]
opensearch: {url: "https://host:9200", user: u, password: {env: PW}, stream: s, keep: 30d, spool: 1GiB}
aws: [{region: ap-northeast-2, profile: p, tags: {team: a}, environment: lab, user: u, password: {env: PW}, options: {tls: required}}]
shard: 2/3
`
	if _, err := Parse("whole.yaml", []byte(whole)); err != nil {
		t.Fatal(err)
	}
	documenttest.EachMutant(t, whole, func(text []byte) { _, _ = Parse("mutant.yaml", text) })
}
