package terminal

import "testing"

func TestWhatWouldSteerATerminalIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain, grün, 日本\n\ttab":               "plain, grün, 日本\n\ttab",
		"\x1b[31mred\x1b[0m":                   "\x1b[31mred\x1b[0m",
		"\x1b[2J\x1b[H":                        `\x1b[2J\x1b[H`,
		"\x1b]0;title\x07":                     `\x1b]0;title\x07`,
		"done\rfailed":                         `done\x0dfailed`,
		"\u009b2J":                             `\u009b2J`,
		"drop \u202eelbat":                     `drop \u202eelbat`,
		"\x00\x7f\x08":                         `\x00\x7f\x08`,
		"\xff is no UTF-8, and steers nothing": "\xff is no UTF-8, and steers nothing",
	} {
		if is := Printable(text); is != want {
			t.Errorf("%q: %q, want %q", text, is, want)
		}
	}
}
