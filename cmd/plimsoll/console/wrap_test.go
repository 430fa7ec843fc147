package console

import "testing"

func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"one two three four", "one two\n> three\n> four"},
		{"  one two three", "  one two\n> three"},
		{"aaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaa\n> b"},
		{"two lines\nof text here", "two lines\nof text\n> here"},
		{"ääää ööö ü", "ääää ööö ü"},
	} {
		if got := wrap(c.text, 10, "> "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}
