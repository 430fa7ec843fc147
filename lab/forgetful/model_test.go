//go:build linux

package forgetful

import (
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// content is a file of the model: what it holds, and what of it was synced.
type content struct{ now, synced string }

// Whatever is done to files, what remains is what a model of two states says: as it is, and as it was synced last.
func TestAgainstAModel(t *testing.T) {
	const lives, steps = 4, 400
	for range lives {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		l := lay(t, nil)
		names, synced := map[string]*content{}, map[string]*content{}
		name := func() string { return string(rune('a' + r.IntN(5))) }
		for range steps {
			n := name()
			file := names[n]
			switch what := r.IntN(10); {
			case file == nil:
				must(t, l.open(n, os.O_CREATE|os.O_WRONLY).Close())
				names[n] = &content{}
			case what == 0:
				must(t, os.Remove(l.at(n)))
				delete(names, n)
			case what == 1:
				if to := name(); to != n {
					must(t, os.Rename(l.at(n), l.at(to)))
					names[to] = file
					delete(names, n)
				}
			case what == 2:
				size := r.IntN(20_000)
				must(t, os.Truncate(l.at(n), int64(size)))
				file.now = resized(file.now, size)
			case what <= 4:
				f := l.open(n, os.O_RDWR)
				must(t, f.Sync())
				must(t, f.Close())
				file.synced, synced = file.now, maps.Clone(names)
			default:
				f := l.open(n, os.O_WRONLY)
				at, text := r.IntN(16_000), strings.Repeat(string(rune('A'+r.IntN(26))), 1+r.IntN(9000))
				l.write(f, text, int64(at))
				must(t, f.Close())
				size := max(len(file.now), at+len(text))
				file.now = resized(file.now, at) + text + resized(file.now, size)[at+len(text):]
			}
		}
		now, want := map[string]string{}, map[string]string{}
		for n, file := range names {
			now[n] = file.now
		}
		for n, file := range synced {
			want[n] = file.synced
		}
		l.want(tree(t, l.folder), now)
		l.want(l.finish(lose), want)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func resized(s string, size int) string {
	return s[:min(len(s), size)] + strings.Repeat("\x00", max(0, size-len(s)))
}
