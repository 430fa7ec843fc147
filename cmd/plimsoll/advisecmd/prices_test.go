package advisecmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
)

// A price file of a day that has not come yet is refused, and named.
func TestPricesOfTheFutureAreRefused(t *testing.T) {
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(file, []byte("sources: {contract: {date: "+time.Now().AddDate(1, 0, 0).Format(time.DateOnly)+", text: our contract}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{prices: file}
	_, err := o.input(time.Now())
	var refused console.UsageError
	if !errors.As(err, &refused) || !strings.Contains(refused.Text, file+": the source contract of prices is dated") {
		t.Errorf("%v", err)
	}
}
