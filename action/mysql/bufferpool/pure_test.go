package bufferpool

import (
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// The texts are those of storage/innobase/buf/buf0dump.cc.
func TestAStatusIsUnderstood(t *testing.T) {
	for text, want := range map[string]statusLine{
		"":                                   {state: idle, share: -1},
		"Dumping of buffer pool not started": {state: idle, share: -1},
		"Loading of buffer pool not started": {state: idle, share: -1},
		"Buffer pool(s) dump completed at 261121 19:05:42":                                {state: complete, share: -1},
		"Buffer pool(s) load completed at 261121  9:05:42":                                {state: complete, share: -1},
		"Buffer pool(s) load aborted on request":                                          {state: aborted, share: -1},
		"Loading buffer pool(s) from /data/ib_buffer_pool":                                {state: underWay, share: -1},
		"Loaded 25/100 pages":                                                             {state: underWay, share: 0.25},
		"Dumping buffer pool 1/8, page 10/20":                                             {state: underWay, share: 0.5},
		"Dumping buffer pool(s) to /data/ib_buffer_pool":                                  {state: underWay, share: -1},
		"Cannot open '/data/1/2' for reading: No such file or directory":                  {state: failed, share: -1},
		"Error parsing '/data/ib_buffer_pool': bogus space,page 1,2 at line 3 (i.e. 1,2)": {state: failed, share: -1},
	} {
		if got := read(text); got.state != want.state || got.share != want.share || got.text != text {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

func TestPartsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"[shop.orders, shop.orders.PRIMARY]": "shop.orders|shop.orders.PRIMARY",
		`"shop.orders, shop.parts"`:          "shop.orders|shop.parts",
		`""`:                                 "",
		`["` + "`a.b`.c.`d`" + `"]`:          "a.b.c.d",
		"[shop.*]":                           "shop.*",
	} {
		var p parts
		n, err := document.Parse("with", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Decode(&p); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var names []string
		for _, one := range p {
			names = append(names, one.String())
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("%s names %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"orders", "a.b.c.d", "shop..orders", "`shop.orders", "`shop`x.orders", "."} {
		if _, err := readPart(text); err == nil {
			t.Errorf("%q is taken for a name", text)
		}
	}
}

// TestTheNextChunkBeginsBehindTheLast looks at nulls, which come first and compare with nothing.
func TestTheNextChunkBeginsBehindTheLast(t *testing.T) {
	i := index{part: part{"s", "t", "k"}, columns: []column{{name: "a"}, {name: "id"}}}
	for want, last := range map[string][]engine.Value{
		"((`a` > ?) OR (`a` = ? AND `id` > ?))":              {engine.Int(4), engine.Int(9)},
		"((`a` IS NOT NULL) OR (`a` IS NULL AND `id` > ?))":  {{}, engine.Int(9)},
		"((`a` > ?) OR (`a` = ? AND `id` IS NOT NULL))":      {engine.Int(4), {}},
		"((`a` IS NOT NULL) OR (`a` IS NULL AND `id` > ?)) ": nil,
	} {
		w := walk{index: i, last: last}
		if last == nil {
			text, args := w.statement()
			if text != "SELECT `a`, `id` FROM `s`.`t` FORCE INDEX (`k`) ORDER BY `a`, `id` LIMIT ?, 1" || len(args) != 0 {
				t.Errorf("from the beginning: %s %v", text, args)
			}
			continue
		}
		got, args := w.behind()
		if got != want || len(args) != strings.Count(want, "?") {
			t.Errorf("behind %v: %s with %d values, want %s", last, got, len(args), want)
		}
	}
}

func TestLeavesAreCountedWhereTheServerDoesNot(t *testing.T) {
	for _, c := range []struct{ leaves, pages, want float64 }{
		{48, 97, 48}, {1, 1, 1}, {1, 2, 1}, {1, 20, 19}, {1, 33, 32}, {1, 97, 33}, {1, 1000, 936},
	} {
		if got := atLeast(c.leaves, c.pages); got != c.want {
			t.Errorf("%v leaves of %v pages are %v, want %v", c.leaves, c.pages, got, c.want)
		}
	}
}
