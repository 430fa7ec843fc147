package sqltext

import "testing"

func TestNormalize(t *testing.T) {
	for from, want := range map[string]string{
		"SELECT  a FROM t WHERE id = 17 -- why\n AND b='x''y\\'z'":            "SELECT a FROM t WHERE id = ? AND b=?",
		"select * from t1 where c in (1, 2,3, 'x') /* from app */ and d=0x1F": "select * from t1 where c in (?) and d=?",
		"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')":                   "INSERT INTO t VALUES (?)",
		"SELECT `a 1` FROM db.t2 WHERE x > 1.5e-3":                            "SELECT `a 1` FROM db.t2 WHERE x > ?",
		"SELECT 'never closed":                                                "SELECT ?",
	} {
		if got := Normalize(from); got != want {
			t.Errorf("%q\nis   %q\nwant %q", from, got, want)
		}
	}
	if Digest(Normalize("select 1")) != Digest(Normalize("SELECT  2")) {
		t.Error("two digests of one statement")
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add("SELECT 'a', `b`, 1 /* c")
	f.Fuzz(func(t *testing.T, sql string) {
		if once := Normalize(sql); len(once) > len(sql)+1 {
			t.Errorf("%q became longer: %q", sql, once)
		}
	})
}
