package statement_test

import (
	"testing"

	"plimsoll/action/mysql/statement"
	"plimsoll/engine"
)

func TestTextsEndWhereTheyEnd(t *testing.T) {
	for text, want := range map[string]string{`a`: `'a'`, `it's`: `'it''s'`, `\`: `'\\'`, `\' OR 1 -- `: `'\\'' OR 1 -- '`} {
		if got := statement.Text(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestAloneByTLS(t *testing.T) {
	for mode, want := range map[string]bool{"": false, "off": false, "preferred": false, "required": true, "verify-ca": true, "verify": true} {
		if got := statement.Encrypted(engine.Target{Options: map[string]string{"tls": mode}}); got != want {
			t.Errorf("tls=%s: got %v", mode, got)
		}
	}
}
