package document

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestBoundsAreRefusedWithTheirPlace(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for n := 1; n < 9; n++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", n-1), 10), ", "))
	}
	for name, c := range map[string]struct{ text, want string }{
		"NUL":                   {"a: b\nc: d\x00e\n", "t.yaml:2:5: a NUL, expected text"},
		"invalid UTF-8":         {"a: b\nc: \xff\n", "t.yaml:2:4: the byte 0xff, expected text in UTF-8"},
		"an escape sequence":    {"a: \x1b[31mred\n", "t.yaml:1:4: the control character 0x1b"},
		"brackets":              {"a: " + strings.Repeat("[", 100_000), "t.yaml:1:1004: nested too deeply"},
		"brackets and ends":     {"a: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "t.yaml:1:103: nested too deeply, expected at most 100 levels"},
		"dashes":                {strings.Repeat("- ", 50_000) + "x", "nested too deeply"},
		"mappings":              {strings.Repeat("{a: ", 200) + "x" + strings.Repeat("}", 200), "nested too deeply"},
		"a large file":          {"a: " + strings.Repeat("x", MaxSize), "expected at most 4194304"},
		"a long text":           {"a: b\nc: " + strings.Repeat("x", MaxText+1), "t.yaml:2:4: a text of 1048577 bytes"},
		"aliases upon aliases":  {laughs, "t.yaml:6:"},
		"many values":           {"a: [" + strings.Repeat("x,", MaxNodes) + "x]", "more than 200000 values"},
		"a key that is unknown": {strings.Repeat("k", 5000) + ": x\n", "…"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		root, err := Parse("t.yaml", []byte(c.text))
		if err == nil {
			var s sample
			err = root.Decode(&s)
		}
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.300v, want %q", name, err, c.want)
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 400<<20 {
			t.Errorf("%s took %d MiB", name, took>>20)
		}
	}
}

func TestAByteOrderMarkIsNoPartOfTheText(t *testing.T) {
	root, err := Parse("t.yaml", []byte("\xef\xbb\xbfa: b\n"))
	if err != nil || root.Get("a") == nil {
		t.Errorf("%+v, %v", root, err)
	}
}
