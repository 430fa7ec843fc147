package web

import (
	"os"
	"testing"

	"plimsoll/internal/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }
