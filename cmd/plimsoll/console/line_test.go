package console

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// Where there is no terminal, a long step shows how far it is every ten seconds.
func TestTheChangingLineElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &LiveLine{w: &out, shown: time.Now()}
		for range 50 { // 25 s
			time.Sleep(500 * time.Millisecond)
			l.Show("12 %, about 19s left · leave")
		}
		if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2 {
			t.Errorf("%d lines in 25 s:\n%s", n, out.String())
		}
	})
}
