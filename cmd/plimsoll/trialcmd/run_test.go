package trialcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/report/reporttest"
)

// Where nothing could be written, no report is named.
func TestOnlyAReportThatIsThereIsNamed(t *testing.T) {
	result := reporttest.Timeline()
	result.Dir = t.TempDir()
	page := filepath.Join(result.Dir, reportPage)
	for _, there := range []bool{false, true} {
		var out bytes.Buffer
		if err := showRun(console.Streams{Out: &out}, result, RunOptions{}); err != nil {
			t.Fatal(err)
		}
		if named := strings.Contains(out.String(), "Report:   "+page+"\n"); named != there {
			t.Errorf("the report is there: %v, named: %v", there, named)
		}
		if err := os.WriteFile(page, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
