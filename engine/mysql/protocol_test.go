package mysql_test

import (
	"bytes"
	"fmt"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/internal/labtest"
)

// What MySQL and MariaDB have beyond the port's contract, on real servers.
func TestProtocol(t *testing.T) {
	labtest.Each(t, func(t *testing.T, db labtest.Server) {
		t.Run("BothProtocolsAgree", func(t *testing.T) { testBothProtocolsAgree(t, db) })
		t.Run("ChangedColumns", func(t *testing.T) { testChangedColumns(t, db) })
		t.Run("ChangedParameters", func(t *testing.T) { testChangedParameters(t, db) })
		t.Run("SeveralResults", func(t *testing.T) { testSeveralResults(t, db) })
		t.Run("LongPackets", func(t *testing.T) { testLongPackets(t, db) })
		t.Run("AnyText", func(t *testing.T) { testAnyText(t, db) })
		t.Run("Logins", func(t *testing.T) { testLogins(t, db) })
	})
}

func open(t *testing.T, db engine.Database) engine.Session {
	t.Helper()
	s, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// execute prepares and runs a text.
func execute(t *testing.T, s engine.Session, text string, r *engine.Result, args ...engine.Value) engine.Statement {
	t.Helper()
	p, err := s.Prepare(t.Context(), text)
	if err == nil {
		err = p.Exec(t.Context(), args, r)
	}
	if err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	return p
}

// A data set that we make holds any text, whatever the server's own default is, and records do wherever they are kept.
func testAnyText(t *testing.T, db labtest.Server) {
	const text = "漢字 and 🚢"
	s := open(t, db)
	r := engine.Result{Keep: true}
	labtest.Ask(t, db, "CREATE TABLE any_text (s VARCHAR(20))")
	execute(t, s, "INSERT INTO any_text VALUES (?)", nil, engine.Chars([]byte(text)))
	execute(t, s, "SELECT s FROM any_text", &r)
	if got := string(r.At(0, 0).Data); got != text {
		t.Errorf("got %q", got)
	}

	labtest.Ask(t, db, "CREATE DATABASE latin CHARACTER SET latin1")
	defer labtest.Ask(t, db, "DROP DATABASE latin")
	records := mysql.Engine{}.RecordTable("records", 1)
	if err := s.Exec(t.Context(), "USE latin", nil); err != nil {
		t.Fatal(err)
	}
	execute(t, s, records.Create, nil)
	execute(t, s, records.Insert, nil, engine.Chars([]byte("鍵")), engine.Chars([]byte(text)))
	execute(t, s, records.Read, &r, engine.Chars([]byte("鍵")))
	if r.Rows != 1 || string(r.At(0, 1).Data) != text {
		t.Errorf("%d records", r.Rows)
	}
}

// Every type of column has the same value in a prepared statement as in a plain one.
func testBothProtocolsAgree(t *testing.T, db labtest.Server) {
	columns := []struct{ kind, least, most string }{
		{"TINYINT", "-128", "127"}, {"TINYINT UNSIGNED", "0", "255"}, {"SMALLINT", "-32768", "32767"}, {"SMALLINT UNSIGNED", "0", "65535"},
		{"MEDIUMINT", "-8388608", "8388607"}, {"MEDIUMINT UNSIGNED", "0", "16777215"}, {"INT", "-2147483648", "2147483647"},
		{"INT UNSIGNED", "0", "4294967295"}, {"BIGINT", "-9223372036854775808", "9223372036854775807"},
		{"BIGINT UNSIGNED", "0", "18446744073709551615"}, {"YEAR", "1901", "2155"}, {"DECIMAL(30, 10)", "-12345678901234567890.0123456789", "0"},
		{"FLOAT", "-1.5", "0.25"}, {"DOUBLE", "-1.7976931348623157e308", "0.1"}, {"BIT(12)", "0", "4095"},
		{"DATE", "'1000-01-01'", "'9999-12-31'"}, {"DATETIME", "'1000-01-01'", "'9999-12-31 23:59:59'"},
		{"DATETIME(3)", "'2001-02-03 04:05:06.007'", "'2001-02-03'"}, {"TIMESTAMP(6)", "'2001-02-03 04:05:06.000007'", "'2020-01-01'"},
		{"TIME", "'-838:59:59'", "'838:59:59'"}, {"TIME(2)", "'-00:00:00.25'", "'00:00:00'"}, {"TIME(6)", "'1:2:3.000004'", "'100:00:00'"},
		{"CHAR(5)", "'a'", "'äöüß€'"}, {"BINARY(3)", "'a'", "X'0001ff'"}, {"VARCHAR(9)", "''", "'€'"}, {"VARBINARY(9)", "''", "X'fbff'"},
		{"TINYTEXT", "'x'", "''"}, {"TEXT", "'x'", "'y'"}, {"MEDIUMBLOB", "'x'", "''"}, {"ENUM('a', 'b')", "'a'", "'b'"},
		{"SET('a', 'b')", "''", "'a,b'"}, {"JSON", "'[1]'", "'{}'"}, {"GEOMETRY", "ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(0 0)')"},
	}
	create, least, most := "CREATE TABLE kinds (id INT", "INSERT INTO kinds VALUES (1", "INSERT INTO kinds VALUES (2"
	for i, c := range columns {
		create += fmt.Sprintf(", c%d %s NULL", i, c.kind)
		least, most = least+", "+c.least, most+", "+c.most
	}
	labtest.Ask(t, db, create+") CHARACTER SET utf8mb4", least+")", most+")", "INSERT INTO kinds (id) VALUES (3)")
	s := open(t, db)
	plain, prepared := engine.Result{Keep: true}, engine.Result{Keep: true}
	const text = "SELECT * FROM kinds ORDER BY id"
	if err := s.Exec(t.Context(), text, &plain); err != nil {
		t.Fatal(err)
	}
	execute(t, s, text, &prepared)
	if plain.Rows != 3 || prepared.Rows != 3 || plain.Columns != len(columns)+1 || prepared.Columns != plain.Columns {
		t.Fatalf("%d and %d rows", plain.Rows, prepared.Rows)
	}
	for row := range 3 {
		for i, c := range columns {
			a, b := plain.At(row, i+1), prepared.At(row, i+1)
			if a.Kind != b.Kind || a.Int != b.Int || a.Float != b.Float || !bytes.Equal(a.Data, b.Data) {
				t.Errorf("%s in row %d: %+v plain, %+v prepared", c.kind, row, a, b)
			}
			if a.IsNull() != (row == 2) {
				t.Errorf("%s in row %d: %+v", c.kind, row, a)
			}
			wrote := []string{c.least, c.most, ""}[row]
			if (a.Kind == engine.Integer || c.kind == "BIGINT UNSIGNED" && !a.IsNull()) && labtest.Show(a) != wrote {
				t.Errorf("%s: %s, want %s", c.kind, labtest.Show(a), wrote)
			}
		}
	}
}

// A statement whose table gets other columns after it was prepared, or executed, returns them as they are.
func testChangedColumns(t *testing.T, db labtest.Server) {
	labtest.Ask(t, db, "CREATE TABLE changing (a INT)", "INSERT INTO changing VALUES (1)")
	s := open(t, db)
	r := engine.Result{Keep: true}
	p := execute(t, s, "SELECT * FROM changing", &r)
	for _, c := range []struct {
		change string
		want   []engine.Value
	}{
		{"ALTER TABLE changing ADD b VARCHAR(9) DEFAULT 'x'", []engine.Value{engine.Int(1), engine.Chars([]byte("x"))}},
		{"ALTER TABLE changing MODIFY a DOUBLE", []engine.Value{engine.Float(1), engine.Chars([]byte("x"))}},
		{"ALTER TABLE changing DROP b", []engine.Value{engine.Float(1)}},
	} {
		labtest.Ask(t, db, c.change)
		for range 2 { // as it changed, and as it is known
			if err := p.Exec(t.Context(), nil, &r); err != nil {
				t.Fatalf("after %s: %v", c.change, err)
			}
			if fmt.Sprint(r.Values) != fmt.Sprint(c.want) {
				t.Errorf("after %s: %v, want %v", c.change, r.Values, c.want)
			}
		}
	}
}

// A parameter may be of another kind from call to call, also after an error.
func testChangedParameters(t *testing.T, db labtest.Server) {
	s := open(t, db)
	p, err := s.Prepare(t.Context(), "SELECT CONCAT(?, ''), CONCAT(?, '')")
	if err != nil {
		t.Fatal(err)
	}
	r := engine.Result{Keep: true}
	number, text, null := engine.Int(-5), engine.Chars([]byte("text")), engine.Value{}
	for _, args := range [][]engine.Value{
		{number, text}, {text, number}, {null, number}, {text, null}, {number, number}, {engine.Blob([]byte("bytes")), engine.Float(1.5)}, {text, text},
	} {
		if err := p.Exec(t.Context(), args, &r); err != nil {
			t.Fatal(err)
		}
		for i, a := range args {
			if got, want := labtest.Show(r.At(0, i)), labtest.Show(a); got != want {
				t.Errorf("parameter %d: %s, want %s", i+1, got, want)
			}
		}
		if err := s.Exec(t.Context(), "SELECT * FROM no_such_table", nil); err == nil {
			t.Error("a table that is not there was read")
		}
	}
}

// Of a CALL, the rows of the first result are kept and those of all are counted.
func testSeveralResults(t *testing.T, db labtest.Server) {
	labtest.Ask(t, db, "CREATE PROCEDURE two() BEGIN SELECT 1, 'a'; SELECT 2 UNION ALL SELECT 3; SELECT 4, 'b'; END")
	s := open(t, db)
	r := engine.Result{Keep: true}
	p := execute(t, s, "CALL two()", &r)
	for round := range 3 {
		if r.Rows != 4 || r.Columns != 2 || len(r.Values) != 2 || r.At(0, 0).Int != 1 {
			t.Errorf("round %d: %d rows of %d columns, values %v", round, r.Rows, r.Columns, r.Values)
		}
		if err := p.Exec(t.Context(), nil, &r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Exec(t.Context(), "CALL two()", &r); err != nil || r.Rows != 4 || len(r.Values) != 2 {
		t.Errorf("plain: %d rows, %v", r.Rows, err)
	}
}

// Texts around the length at which a packet goes on in the next one go there and come back.
func testLongPackets(t *testing.T, db labtest.Server) {
	labtest.Ask(t, db, "SET GLOBAL max_allowed_packet = 67108864")
	s := open(t, db)
	r := engine.Result{Keep: true}
	long := bytes.Repeat([]byte("x"), 1<<24+100)
	p, err := s.Prepare(t.Context(), "SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{1<<24 - 8, 1<<24 - 7, 1<<24 - 6, 1<<24 - 5, 1<<24 - 4, 1 << 24, 1<<24 + 100} {
		for _, keep := range []bool{true, false} {
			r.Keep = keep
			if err := p.Exec(t.Context(), []engine.Value{engine.Chars(long[:length])}, &r); err != nil {
				t.Fatalf("%d bytes: %v", length, err)
			}
			if r.Rows != 1 || keep && !bytes.Equal(r.At(0, 0).Data, long[:length]) {
				t.Errorf("%d bytes, keep %v: %d rows", length, keep, r.Rows)
			}
		}
	}
	for length := 1<<24 - 20; length < 1<<24; length++ { // the request's own edge, and the answer's
		if err := s.Exec(t.Context(), "SELECT '"+string(long[:length-9])+"'", &r); err != nil || r.Rows != 1 {
			t.Fatalf("a text of %d bytes: %v", length, err)
		}
	}
}

// Each method of login works with the right password and is Denied with a wrong one, twice, because servers remember.
func testLogins(t *testing.T, db labtest.Server) {
	facts, err := db.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]string{"caching_sha2_password": "IDENTIFIED WITH caching_sha2_password BY 'pass'",
		"sha256_password": "IDENTIFIED WITH sha256_password BY 'pass'"}
	if facts.Product == "MariaDB" {
		methods = map[string]string{"mysql_native_password": "IDENTIFIED BY 'pass'"}
		s := open(t, db)
		if err := s.Exec(t.Context(), "INSTALL SONAME 'auth_ed25519'", nil); err == nil {
			methods["ed25519"] = "IDENTIFIED VIA ed25519 USING PASSWORD('pass')"
		} else {
			t.Logf("without ed25519: %v", err)
		}
	}
	for method, identified := range methods {
		user := "by_" + method
		labtest.Ask(t, db, "CREATE USER "+user+" "+identified, "GRANT ALL ON test.* TO "+user)
		for _, tls := range []string{"off", "preferred", "off"} {
			target := db.Target
			target.User, target.Password, target.Options = user, "pass", map[string]string{"tls": tls}
			as, err := mysql.Engine{}.Open(t.Context(), target)
			if err != nil {
				t.Errorf("%s, tls %s: %v", method, tls, err)
				continue
			}
			if got := labtest.Query(t, as, "SELECT CURRENT_USER()"); got[0] != user+"@%" {
				t.Errorf("%s, tls %s: logged in as %s", method, tls, got)
			}
			t.Logf("%s, tls %s: %s", method, tls, labtest.Query(t, as, "SHOW STATUS LIKE 'Ssl_cipher'"))
			as.Close()
			target.Password = "wrong"
			if _, err := (mysql.Engine{}).Open(t.Context(), target); engine.ClassOf(err) != engine.Denied {
				t.Errorf("%s, tls %s, wrong password: %v", method, tls, err)
			}
		}
	}
}
