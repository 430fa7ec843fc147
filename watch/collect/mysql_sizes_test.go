package collect

import (
	"fmt"
	"testing"
	"time"
)

// What grew or shrank suddenly is told; what is new and small, what grew by little of what it was, and the first look are not.
func TestASuddenGrowthIsAChange(t *testing.T) {
	const mib = 1 << 20
	f := sizes{least: leastGrowth}
	at := time.Unix(1000, 0)
	looks := []struct {
		now  map[string]float64
		want string
	}{
		{map[string]float64{"a.big": 8000 * mib, "a.small": mib, "a.log": 3000 * mib}, "[]"},
		{map[string]float64{"a.big": 8300 * mib, "a.small": 200 * mib, "a.log": 500 * mib, "a.new": mib}, "[size a.log 3000 MiB 500 MiB]"},
		{map[string]float64{"a.big": 16000 * mib, "a.small": 200 * mib, "a.log": 500 * mib, "a.copy": 16000 * mib}, "[size a.big 8300 MiB 16000 MiB size a.copy  16000 MiB]"},
	}
	for n, look := range looks {
		var told []string
		for _, c := range f.turn(at, look.now) {
			told = append(told, fmt.Sprintf("%s %s %s %s", c.Kind, c.What, c.From, c.To))
		}
		if got := fmt.Sprint(told); got != look.want {
			t.Errorf("look %d tells %s, want %s", n, got, look.want)
		}
	}
}

// A file belongs to the table whose name people know; a copy that an ALTER TABLE is making belongs to none yet.
func TestTheTableOfAFile(t *testing.T) {
	for file, want := range map[string]string{
		"shop/orders": "shop.orders", "shop/orders#p#p2026": "shop.orders", "shop/orders#P#p0#SP#s1": "shop.orders", "mysql": "mysql",
		"my@002dapp/t@0023@00e9": "my-app.t#é", "shop/#sql-ib1087-2843": "", "shop/#sql-alter-4f2-9": "", "shop/#sql-ib12#p#p0": "",
	} {
		if got := tableOfFile(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
