package labtest

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"plimsoll/engine"
	"plimsoll/workload"
)

// Tally is what became of operations: how many ended well by kind, and how many in an error by its class.
type Tally struct {
	Done   map[string]int
	Errors map[engine.Class]int
	First  map[engine.Class]error
}

// Drive performs so many operations with each of some workers, side by side.
func Drive(t testing.TB, w workload.Workload, db engine.Database, seed uint64, workers, operations int) Tally {
	t.Helper()
	tally := Tally{map[string]int{}, map[engine.Class]int{}, map[engine.Class]error{}}
	connect := w.Connect(db, seed)
	var mu sync.Mutex
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			client, err := connect(t.Context(), worker)
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			for range operations {
				kind := client.Next()
				err := client.Do(t.Context(), kind)
				mu.Lock()
				if err == nil {
					tally.Done[w.Operations()[kind]]++
				} else {
					tally.Errors[engine.ClassOf(err)]++
					tally.First[engine.ClassOf(err)] = err
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return tally
}

// Ask runs statements.
func Ask(t testing.TB, db engine.Database, texts ...string) {
	t.Helper()
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, text := range texts {
		if err := session.Exec(t.Context(), text, nil); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// Status returns counters of the server.
func Status(t testing.TB, db engine.Database, names ...string) map[string]int {
	t.Helper()
	values := map[string]int{}
	for _, row := range Query(t, db, "SHOW GLOBAL STATUS WHERE Variable_name IN ('"+strings.Join(names, "', '")+"')") {
		name, text, _ := strings.Cut(row, " ")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		values[name] = n
	}
	return values
}
