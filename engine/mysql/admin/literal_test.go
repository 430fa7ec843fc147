package admin_test

import (
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

func TestTextsEndWhereTheyEnd(t *testing.T) {
	for text, want := range map[string]string{`a`: `'a'`, `it's`: `'it''s'`, `\`: `'\\'`, `\' OR 1 -- `: `'\\'' OR 1 -- '`} {
		if got := admin.Text(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := admin.Names([]string{"a", "b`c"}) + admin.Texts([]string{"a", "it's"}); got != "`a`, `b``c`'a', 'it''s'" {
		t.Errorf("lists: %s", got)
	}
}

func TestAValueIsWhatWasWritten(t *testing.T) {
	for value, want := range map[string]string{
		"512M": "536870912", "1": "1", "-1": "-1", "0.5": "0.5", "1e3": "1e3", "ON": "'ON'", "": "''", "inf": "'inf'",
		"0x10": "'0x10'", "1M; DROP": "'1M; DROP'", "it's": "'it''s'", "9E": "'9E'", "1 ": "'1 '",
		"32M": "33554432", "0K": "0", "007": "7", "1.5": "1.5", "1e1": "1e1", "NaN": "'NaN'",
		"16777216T": "'16777216T'", // more than there is, and not 0
		"1E":        "1152921504606846976",
	} {
		if got := admin.Value(value); got != want {
			t.Errorf("%q is written %s, want %s", value, got, want)
		}
	}
}

func TestAloneByTLS(t *testing.T) {
	for mode, want := range map[string]bool{"": false, "off": false, "preferred": false, "required": true, "verify-ca": true, "verify": true} {
		if got := admin.IsTLSOnly(engine.Target{Options: map[string]string{"tls": mode}}); got != want {
			t.Errorf("tls=%s: got %v", mode, got)
		}
	}
}
