package console

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Where there is no terminal, a long step shows how far it is every ten seconds.
func TestTheChangingLineElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &LiveLine{w: &out, shown: time.Now()}
		for n := range 50 { // 25 s
			time.Sleep(500 * time.Millisecond)
			l.Show(fmt.Sprintf("%d %%, about 19s left · leave", n))
		}
		if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2 {
			t.Errorf("%d lines in 25 s:\n%s", n, out.String())
		}
	})
}

// What waits for hours says the same line rarely, and at once when it changes.
func TestAnUnchangedLineElsewhereIsSaidRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &LiveLine{w: &out, shown: time.Now()}
		for range 1160 { // 9 min 40 s
			time.Sleep(500 * time.Millisecond)
			l.Show("50 % · sure")
		}
		l.Show("60 % · drop")
		if want := "50 % · sure\n50 % · sure\n60 % · drop\n"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	})
}
