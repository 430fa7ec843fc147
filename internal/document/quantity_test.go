package document_test

import (
	"testing"

	"plimsoll/internal/document"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "4K": 4096, "512M": 512 << 20, "2G": 2 << 30, "1T": 1 << 40, "": 0, "G": 0, "-1M": 0, "1.5G": 0, "9999999T": 0} {
		if got, err := document.ParseSize(text); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
