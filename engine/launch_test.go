package engine

import "testing"

func TestLastLife(t *testing.T) {
	for log, want := range map[string]string{
		"":                      "",
		LogTitle + " at 1\na\n": "a\n",
		LogTitle + " at 1\na\n" + LogTitle + " at 2\nb\nc": "b\nc",
		LogTitle + " at 1\na\n" + LogTitle + " at 2\n":     "",
		"the end of a long line\n" + LogTitle + "\nb\n":    "b\n",
	} {
		if got := LastLife(log); got != want {
			t.Errorf("LastLife(%q) = %q, want %q", log, got, want)
		}
	}
}
