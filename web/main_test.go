package web

import (
	"os"
	"testing"

	"plimsoll/internal/browser"
)

// TestMain is also the viewers of a benchmark.
func TestMain(m *testing.M) {
	if text := os.Getenv(viewersVariable); text != "" {
		beViewers(text)
		return
	}
	os.Exit(browser.Run(m))
}
