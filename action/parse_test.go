package action_test

import (
	"testing"

	"plimsoll/internal/document"
)

func parse(t *testing.T, text string) *document.Node {
	t.Helper()
	n, err := document.Parse("with", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
