package collect

import (
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
)

func TestWhichVariablesHoldASecret(t *testing.T) {
	for name, want := range map[string]bool{
		"report_password": true, "wsrep_sst_auth": true, "authentication_ldap_simple_bind_root_pwd": true, "keyring_hashicorp_secret_id": true, "s3_secret_key": true, "s3_access_key": true,
		"file_key_management_filekey": true, "ssl_passphrase": true, "hashicorp_key_management_token": true, "telemetry.otel_exporter_otlp_traces_headers": true,
		"old_passwords": false, "disconnect_on_expired_password": false, "secure_auth": false, "validate_password.length": false, "default_authentication_plugin": false,
		"caching_sha2_password_private_key_path": false, "ssl_key": false, "password_history": false, "sync_binlog": false, "require_secure_transport": false,
	} {
		if got := holdsSecret(name); got != want {
			t.Errorf("%s holds a secret: %v", name, got)
		}
	}
}

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
