package admin_test

import (
	"testing"

	"plimsoll/engine/mysql/admin"
)

func set(t *testing.T, text string) admin.GTIDSet {
	t.Helper()
	g, err := admin.ParseGTIDSet(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGTIDs(t *testing.T) {
	const u, v = "0171b29f-e5e2-11f1-8a10-02fc00000001", "0171b29f-e5e2-11f1-8a10-02fc00000002"
	for _, c := range []struct {
		a, b, without, with string
		left                int64
	}{
		{"", "", "", "", 0},
		{u + ":1-5", "", u + ":1-5", u + ":1-5", 5},
		{u + ":1-5", u + ":1-5", "", u + ":1-5", 0},
		{u + ":1-9:12", u + ":3-4:6", u + ":1-2:5:7-9:12", u + ":1-9:12", 7},
		{u + ":1-3:4-5,\n" + v + ":7", u + ":4-9", u + ":1-3," + v + ":7", u + ":1-9," + v + ":7", 4},
		{u + ":1-3:nightly:1-2", u + ":1-3", u + ":nightly:1-2", u + ":1-3," + u + ":nightly:1-2", 2},
		{u + ":5-9", u + ":1-20", "", u + ":1-20", 0},
	} {
		a, b := set(t, c.a), set(t, c.b)
		if got := a.Without(b); got.String() != c.without || got.Count() != c.left {
			t.Errorf("%s without %s: %s, %d; want %s, %d", c.a, c.b, got, got.Count(), c.without, c.left)
		}
		if got := a.With(b).String(); got != c.with {
			t.Errorf("%s with %s: %s, want %s", c.a, c.b, got, c.with)
		}
	}
	for _, odd := range []string{"x", u, "1-2", u + ":nightly"} {
		if g, err := admin.ParseGTIDSet(odd); err == nil {
			t.Errorf("%q was read as %s", odd, g)
		}
	}
}

func TestPositionsOfMariaDB(t *testing.T) {
	source, err := admin.ParsePositionSet("0-1-120,3-7-9", false)
	if err != nil {
		t.Fatal(err)
	}
	replica, err := admin.ParsePositionSet("0-2-100", false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := source.InWords(), "sequence number 120 of domain 0, sequence number 9 of domain 3"; got != want {
		t.Errorf("in words: %s, want %s", got, want)
	}
	if g := set(t, "0171b29f-e5e2-11f1-8a10-02fc00000001:1-5"); g.InWords() != g.String() {
		t.Errorf("in words: %s", g.InWords())
	}
	if left := source.Without(replica).Count(); left != 29 {
		t.Errorf("%d left, want 20 of domain 0 and 9 of domain 3", left)
	}
	own, _ := admin.ParsePositionSet("0-1-120,0-2-121", true)
	theirs, _ := admin.ParsePositionSet("0-1-130", true)
	if errant := own.Without(theirs).String(); errant != "0-2:1-121" {
		t.Errorf("errant %s", errant)
	}
	if _, err := admin.ParsePositionSet("0-1", false); err == nil {
		t.Error("half a GTID was read")
	}
}

func TestPositionsJoin(t *testing.T) {
	a, err := admin.ParsePosition("0-1-100, 2-9-5")
	if err != nil {
		t.Fatal(err)
	}
	b, err := admin.ParsePosition("0-3-99,1-1-7,2-8-6")
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Latest(b).String(); got != "0-1-100,1-1-7,2-8-6" {
		t.Error(got)
	}
	if _, err := admin.ParsePosition("1-2"); err == nil {
		t.Error("1-2 was taken for a GTID")
	}
}

func TestOfADomainThatIsNamedTwiceTheLastTransactionCounts(t *testing.T) {
	p, err := admin.ParsePosition("0-1-100,3-1-4,0-2-90")
	if err != nil || p.String() != "0-1-100,3-1-4" {
		t.Errorf("%s, %v", p, err)
	}
}
