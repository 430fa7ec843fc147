package secret

import "testing"

func TestWhichVariablesHoldASecret(t *testing.T) {
	for name, want := range map[string]bool{
		"report_password": true, "wsrep_sst_auth": true, "authentication_ldap_simple_bind_root_pwd": true, "keyring_hashicorp_secret_id": true, "s3_secret_key": true, "s3_access_key": true,
		"file_key_management_filekey": true, "ssl_passphrase": true, "hashicorp_key_management_token": true, "telemetry.otel_exporter_otlp_traces_headers": true,
		"old_passwords": false, "disconnect_on_expired_password": false, "secure_auth": false, "validate_password.length": false, "default_authentication_plugin": false,
		"caching_sha2_password_private_key_path": false, "ssl_key": false, "password_history": false, "sync_binlog": false, "require_secure_transport": false,
	} {
		if got := Is(name); got != want {
			t.Errorf("%s holds a secret: %v", name, got)
		}
	}
}

func TestWhichValuesMayHaveASecretInThem(t *testing.T) {
	for value, want := range map[string]bool{
		"SET @db_pwd='x'": true, "SET @auth := 'x'": true, "mysql -uroot -pX": true, "curl -H 'Authorization: Bearer abc' http://h": true, "notify Bearer abc": true,
		"socket.ssl_key_passphrase=x": true, "gcomm://u:x@h": true, "CHANGE MASTER TO MASTER_PASSWORD='x'": true, "CREATE USER u IDENTIFIED BY 'x'": true,
		"SET autocommit=1": false, "gcomm://10.0.0.1:4567,10.0.0.2:4567": false, "gcache.size = 128M; gcs.fc_limit = 16": false, "mysql_native_password": false,
		"auth_socket": false, "ON": false, "": false, "/srv/my-project/a b": false, "index_merge=on,engine_condition_pushdown=on": false,
	} {
		if got := In(value); got != want {
			t.Errorf("%q may have a secret in it: %v", value, got)
		}
	}
}

func TestWhichOptionsOfAListDiffer(t *testing.T) {
	const list = "base_port = 4567; gcache.size = 128M; socket.ssl_key_passphrase = one; "
	for _, c := range [][3]string{
		{"base_port = 4567; gcache.size = 256M; socket.ssl_key_passphrase = one; ", "gcache.size=128M", "gcache.size=256M"},
		{"base_port = 4567; gcache.size = 128M; socket.ssl_key_passphrase = two; ", "", ""},
		{"base_port = 4567; gcache.size = 256M; socket.ssl_key_passphrase = two; ", "gcache.size=128M; socket.ssl_key_passphrase", "gcache.size=256M; socket.ssl_key_passphrase"},
		{`base_port = 4567; gcache.size = 256M; socket.ssl_key_passphrase = t\;wo=2; `, "gcache.size=128M; socket.ssl_key_passphrase", "gcache.size=256M; socket.ssl_key_passphrase"},
		{"base_port = 4567; gcache.size = 256M; socket.ssl_key_passphrase = t;wo; ", "", ""},
		{"gcache.size = 128M; socket.ssl_key_passphrase = one; gcs.fc_limit = 16", "base_port=4567", "gcs.fc_limit=16"},
		{"", "base_port=4567; gcache.size=128M; socket.ssl_key_passphrase", ""},
	} {
		if from, to := Changed(list, c[0]); from != c[1] || to != c[2] {
			t.Errorf("%q\nwas %q and is %q\nwant %q and %q", c[0], from, to, c[1], c[2])
		}
	}
}
