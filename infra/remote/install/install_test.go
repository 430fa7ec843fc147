//go:build linux

package install

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/infra/remote/helper"
)

// A line that was cut while the helper was sent leaves nothing that is taken for it, and one that stands there cut off, from a release
// that left it, is sent anew.
func TestAHelperThatWasCutOffIsSentAnew(t *testing.T) {
	p := helper.Program{Name: "helper", Content: []byte("#!/bin/sh\necho half\necho whole\n")}
	half := bytes.Index(p.Content, []byte("echo whole"))
	i, err := newInstaller(func(string) (helper.Program, error) { return p, nil })
	if err != nil {
		t.Fatal(err)
	}
	runtime := t.TempDir()
	run := func(sent []byte) string {
		c := exec.Command("sh", "-c", i.script())
		c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtime)
		c.Stdin = bytes.NewReader(sent)
		out, _ := c.Output() // that it ends with an error is told by what is there
		return string(out)
	}
	stands := func() []string {
		all, err := filepath.Glob(filepath.Join(runtime, "plimsoll-*", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if out := run(p.Content[:half]); !strings.HasPrefix(out, putWord) || strings.Contains(out, "half") || len(stands()) != 0 {
		t.Errorf("cut off: said %q, %v stands there", out, stands())
	}
	if out := run(p.Content); !strings.HasSuffix(out, "half\nwhole\n") || len(stands()) != 1 {
		t.Fatalf("sent again: said %q, %v stands there", out, stands())
	}
	if err := os.Truncate(stands()[0], int64(half)); err != nil {
		t.Fatal(err)
	}
	if out := run(p.Content); !strings.HasPrefix(out, putWord) || !strings.HasSuffix(out, "half\nwhole\n") {
		t.Errorf("one that stands there cut off: said %q", out)
	}
	if out := run(nil); out != "half\nwhole\n" {
		t.Errorf("one that stands there whole: said %q", out)
	}
}
