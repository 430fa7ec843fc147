package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/engine"
)

// What a person reads below an error is found through whatever wraps it.
func TestAFullServerSaysWhatToDo(t *testing.T) {
	err := fmt.Errorf("fill sbtest1: %w", &engine.Error{Kind: engine.Full, Code: "1114", Text: "The table 'sbtest1' is full"})
	var advice interface{ Hint() string }
	if !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "disk is full") {
		t.Errorf("%v: advises %v", err, advice)
	}
	if hint := (&engine.Error{Kind: engine.Deadlock}).Hint(); hint != "" {
		t.Errorf("a deadlock is a matter of trying again, not of %q", hint)
	}
}

func TestASecretIsBlottedOutOfAnError(t *testing.T) {
	said := errors.New("near 'p4ss' at line 1")
	if err := engine.Secret("p4ss").Redact(said); strings.Contains(err.Error(), "p4ss") || !strings.Contains(err.Error(), "at line 1") {
		t.Errorf("%q", err)
	}
	for _, other := range []engine.Secret{"", "word"} {
		if err := other.Redact(said); err != said { //nolint:errorlint // the very same
			t.Errorf("%q", err)
		}
	}
	if err := engine.Secret("p4ss").Redact(nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

// A secret is taken out of what an error says, and what kind of error it is stays.
func TestARedactedErrorKeepsItsCode(t *testing.T) {
	err := fmt.Errorf("node n1: %w", &engine.Error{Kind: engine.Denied, Code: "1396", Text: "CREATE USER with hunter2 failed"})
	got := engine.Secret("hunter2").Redact(err)
	if strings.Contains(got.Error(), "hunter2") || engine.CodeOf(got) != "1396" || engine.ClassOf(got) != engine.Denied {
		t.Errorf("%v, code %q, class %s", got, engine.CodeOf(got), engine.ClassOf(got))
	}
	var e *engine.Error
	if errors.As(got, &e) && strings.Contains(e.Error(), "hunter2") {
		t.Errorf("the secret is in %v", e)
	}
}

// A login that is refused is told from a privilege that is missing.
func TestARefusedLoginIsNoMissingPrivilege(t *testing.T) {
	for code, refused := range map[string]bool{"1045": true, "1142": false} {
		if err := fmt.Errorf("node n1: %w", &engine.Error{Kind: engine.Denied, Code: code}); engine.RefusesLogin(err) != refused {
			t.Errorf("%s: the login is refused: %v", code, !refused)
		}
	}
}
