package collect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
)

// Of a variable that holds a secret it is told that it changed, and nothing of its value, which may be a number too.
func TestAVariableThatHoldsASecretShowsNoValue(t *testing.T) {
	s := MySQL(nil, 1)[1].(*slow)
	var r watch.Reading
	for _, shown := range [][][2]string{
		{{"report_password", "73390011"}, {"wsrep_sst_auth", "sst:pass-one"}, {"init_connect", "SET autocommit=1"}, {"default_authentication_plugin", "mysql_native_password"}, {"sync_binlog", "1"}},
		{{"report_password", "73390012"}, {"wsrep_sst_auth", "sst:pass-two"}, {"init_connect", "SET @token='73390013'"}, {"default_authentication_plugin", "caching_sha2_password"}, {"sync_binlog", "0"}},
	} {
		s.session = variables{shown: shown}
		if err := s.settingsChanged(t.Context(), time.Now(), &r); err != nil {
			t.Fatal(err)
		}
	}
	var changes []string
	for _, c := range r.Changes {
		changes = append(changes, strings.TrimSpace(c.What+" "+c.From+" "+c.To))
	}
	want := "default_authentication_plugin mysql_native_password caching_sha2_password, init_connect, report_password, sync_binlog 1 0, wsrep_sst_auth"
	if got := strings.Join(changes, ", "); got != want {
		t.Errorf("the changes are %s\nwant %s", got, want)
	}
	for _, one := range r.Samples {
		if one.Name == "mysql_global_variables_report_password" {
			t.Errorf("there is a series of a secret: %+v", one)
		}
	}
}

// What is SQL, a command, an address or a list of options shows no secret either, in whatever form it stands there; a harmless option is shown.
func TestAStatementOrAListShowsNoSecret(t *testing.T) {
	const options = "gcache.size = %s; gcs.fc_limit = 16; socket.ssl_key_passphrase = hidden1; "
	for _, c := range []struct{ variable, from, to, want string }{
		{"init_connect", "SET autocommit=1", "SET @db_pwd='hidden1'", ""},
		{"init_connect", "SET @auth := 'hidden1'", "SET @a = 1", ""},
		{"init_connect", "", "CALL app.login('svc','hidden1')", ""},
		{"init_slave", "SET @a = 'hidden1'", "", ""},
		{"init_replica", "SET @a = 'hidden1'", "", ""},
		{"wsrep_notify_cmd", "mysql -uroot -phidden1", "", ""},
		{"wsrep_notify_cmd", "curl -H 'Authorization: Bearer hidden1'", "", ""},
		{"wsrep_cluster_address", "gcomm://u:hidden1@h", "gcomm://h", ""},
		{"wsrep_cluster_address", "gcomm://10.0.0.1:4567", "gcomm://10.0.0.2:4567", "gcomm://10.0.0.1:4567 gcomm://10.0.0.2:4567"},
		{"wsrep_provider_options", "socket.ssl_key_passphrase=hidden1", "socket.ssl_key_passphrase=hidden2", ""},
		{"wsrep_provider_options", fmt.Sprintf(options, "128M"), fmt.Sprintf(options, "256M"), "gcache.size=128M gcache.size=256M"},
	} {
		is := withoutSecretValues(watch.Change{Kind: "setting", What: c.variable, From: c.from, To: c.to})
		if got := strings.TrimSpace(is.From + " " + is.To); got != c.want {
			t.Errorf("%s from %q to %q is recorded as %q, want %q", c.variable, c.from, c.to, got, c.want)
		}
	}
}
