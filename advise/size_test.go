package advise

import "testing"

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"512M": 512 << 20, "64G": 64 << 30, "800GiB": 800 << 30, "1.5g": 3 << 29, "4096": 4096, "2 TB": 2 << 40, "3k": 3072,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1G", "0", "much", "1e30", "NaN", "Inf"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}
