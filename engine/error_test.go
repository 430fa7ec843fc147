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
	if !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "no room left") {
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
