package watchcmd

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
)

// A watch of an instance, with the disk of its machine, has two connections to it from the first moment on. MySQL and MariaDB count those that were
// made; a node of Cassandra lists those that there are, which is looked at every few milliseconds.
func TestAWatchHasTwoConnections(t *testing.T) {
	for product, question := range map[string]string{"mariadb": "SHOW GLOBAL STATUS LIKE 'Connections'", "mysql": "SHOW GLOBAL STATUS LIKE 'Connections'", "cassandra": "SELECT COUNT(*) FROM system_views.clients"} {
		t.Run(product, func(t *testing.T) {
			db := labtest.Up(t, product)
			session, err := db.Session(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			connections := func() int {
				r := engine.Result{Keep: true}
				if err := session.Exec(t.Context(), question, &r); err != nil || r.Rows != 1 {
					t.Fatalf("%d rows, %v", r.Rows, err)
				}
				n, err := strconv.Atoi(labtest.Show(r.At(0, r.Columns-1)))
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			l := &watchedLab{T: t}
			l.add("n1", db.Target, nil)
			before, most := connections(), 0
			handler := l.run()
			watches := func() bool { // the disk, and what is read most rarely
				answer := fmt.Sprint(asked(t, handler, panelTarget{expr: "plimsoll_disk_free_bytes"}, "shop/n1"), asked(t, handler, panelTarget{expr: "up == 1"}, "shop/n1"))
				return !strings.Contains(answer, "false")
			}
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			began, seen := time.Now(), false
			for n := 0; !seen || time.Since(began) < 15*time.Second; n++ {
				if most = max(most, connections()-before); n%100 == 0 {
					seen = watches()
				}
				if time.Since(began) > 90*time.Second {
					t.Fatal("the watch does not show the disk")
				}
				<-tick.C
			}
			if most != 2 {
				t.Errorf("it had %d connections", most)
			}
		})
	}
}
