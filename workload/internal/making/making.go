// Package making makes workloads and their clients in tests.
package making

import (
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/workload"
)

// Try makes the workload of a name from the text of its parameters, which may be empty.
func Try(t testing.TB, makers []workload.Maker, e engine.Engine, name, params string) (workload.Workload, error) {
	t.Helper()
	var given *document.Node
	if params != "" {
		var err error
		if given, err = document.Parse("t.yaml", []byte(params)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range makers {
		if m.Name == name {
			return m.New(given, e)
		}
	}
	t.Fatalf("no workload %s", name)
	return nil, nil
}

// Of makes one that must be there, of its own type.
func Of[W workload.Workload](t testing.TB, makers []workload.Maker, e engine.Engine, name, params string) W {
	t.Helper()
	w, err := Try(t, makers, e, name, params)
	if err != nil {
		t.Fatal(err)
	}
	return w.(W)
}

// Connect returns the client of a worker.
func Connect(t testing.TB, w workload.Workload, db engine.Database, seed uint64, worker int) load.Client {
	t.Helper()
	c, err := w.Connect(db, seed)(t.Context(), worker)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
