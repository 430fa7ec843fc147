package advisecmd

import (
	"context"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/lab"
)

// An index that was advised is recognised on a real server when it is there, under whatever name, and the one that it replaces is not; then the
// reads that came are put beside those predicted.
func TestAnIndexThatWasMadeIsCompared(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	for _, product := range []string{"mariadb", "mysql"} {
		t.Run(product, func(t *testing.T) {
			t.Parallel()
			db := labtest.UpSpec(t, lab.Spec{Name: "indexed", Product: product, Config: map[string]string{"innodb_buffer_pool_size": "8M", "innodb_buffer_pool_dump_at_shutdown": "OFF"}})
			labtest.Ask(t, db, "CREATE TABLE users (id INT PRIMARY KEY, handle INT NOT NULL, plan INT NOT NULL, body VARCHAR(1000) NOT NULL, KEY by_handle (handle))",
				"INSERT INTO users VALUES (1, 1, 1, REPEAT('x', 900))")
			for n := 1; n < 32768; n *= 2 { // 30 MB
				labtest.Ask(t, db, "INSERT INTO users SELECT id + "+labtest.Query(t, db, "SELECT MAX(id) FROM users")[0]+", id % 97, id % 7, body FROM users")
			}
			made := []advise.Report{{At: time.Now().Add(-time.Minute), Node: "n1", Findings: []advise.Finding{{Options: []advise.Option{
				{Name: "an index on users", Index: &advise.Index{Table: "test.users", Columns: []string{"handle", "plan"}, Replaces: "by_handle"}, Effects: []advise.Effect{
					{What: "reads a second from disk", Unit: "per_second", Now: 1000, Then: 5, Low: 0, High: 20},
				}},
				{Name: "an index on gone", Index: &advise.Index{Table: "test.gone", Columns: []string{"a"}}, Effects: []advise.Effect{{What: "reads a second from disk"}}},
			}}}}}
			open := func() []prediction {
				t.Helper()
				open, err := carriedOut(t.Context(), db.Database, running{}, made, nil, "n1")
				if err != nil {
					t.Fatal(err)
				}
				return open
			}
			score := func(p prediction) advise.Score {
				t.Helper()
				labtest.Query(t, db, "SELECT COUNT(*) FROM users WHERE handle = 5 AND plan = 3") // what the change itself left to be read
				first := known(t, db.Database)
				for began := time.Now(); time.Since(began) < 2*time.Second; {
					labtest.Query(t, db, "SELECT COUNT(*) FROM users WHERE handle = 5 AND plan = 3")
				}
				last := known(t, db.Database)
				s, can := p.score(&advise.Seen{}, first, last)
				if !can {
					t.Fatal("the server's reads are not known")
				}
				return s
			}
			if got := open(); len(got) != 0 {
				t.Fatalf("before the index is made: %+v", got)
			}
			labtest.Ask(t, db, "ALTER TABLE users ADD INDEX other_name (handle, plan)")
			if got := open(); len(got) != 0 {
				t.Fatalf("the index that it replaces is there still, and the server may go on using it: %+v", got)
			}
			labtest.Ask(t, db, "ALTER TABLE users DROP INDEX by_handle")
			got := open()
			if len(got) != 1 || got[0].option.Name != "an index on users" {
				t.Fatalf("the index is there: %+v", got)
			}
			with := score(got[0])
			labtest.Ask(t, db, "ALTER TABLE users DROP INDEX other_name")
			if got := open(); len(got) != 0 {
				t.Fatalf("the index was dropped: %+v", got)
			}
			without := score(prediction{option: made[0].Findings[0].Options[0], effect: made[0].Findings[0].Options[0].Effects[0]})
			if with.Predicted.Mean != 5 || with.Came.Mean > without.Came.Mean/10 || without.Held() {
				t.Errorf("with the index %+v, without %+v", with, without)
			}
		})
	}
}

// known counts the server's pages, which it shows.
func known(t *testing.T, db engine.Database) counts {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := counted(ctx, db)
	if err != nil || !c.known {
		t.Fatalf("%+v, %v", c, err)
	}
	return c
}
