package mysql

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// The settings of a portrait are written into a file: those that may hold a secret are named, without their values.
func TestAPortraitHasNoSecret(t *testing.T) {
	settings, without := configured([]map[string]string{
		{"name": "sync_binlog", "value": "1"}, {"name": "s3_secret_key", "value": "hidden1"}, {"name": "init_connect", "value": "SET @db_pwd='hidden1'"},
		{"name": "init_slave", "value": "SET @a = 1"}, {"name": "report_password", "value": "hidden1"}, {"name": "max_connections", "value": ""},
	})
	if want := map[string]string{"sync_binlog": "1", "init_slave": "SET @a = 1"}; !maps.Equal(settings, want) {
		t.Errorf("the settings are %v, want %v", settings, want)
	}
	want := []string{"the setting init_connect (its value may hold a secret)", "the setting s3_secret_key (its value may hold a secret)"}
	if !slices.Equal(without, want) {
		t.Errorf("it says that it leaves out %q, want %q", without, want)
	}
}

// No message about a value says a secret.
func TestAMessageAboutAValueHasNoSecret(t *testing.T) {
	for _, one := range [][2]string{{"report_password", "hidden1"}, {"init_connect", "SET @db_pwd='hidden1'"}} {
		if got := written(one[0], one[1]); strings.Contains(got, "hidden1") {
			t.Errorf("of %s it says %s", one[0], got)
		}
	}
	if got := written("max_connections", "many"); got != "many" {
		t.Errorf("of max_connections it says %s", got)
	}
}
