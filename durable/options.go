package durable

import (
	"encoding/json"
	"log/slog"
	"os"
)

// Options say where the state lies.
type Options struct {
	Folder   string       // state folder: the SQLite file, the executor's lock and name
	Postgres string       // connection string of a shared store; empty: SQLite in the folder
	Version  string       // of what interprets the entries: runs of another version are not continued
	Logger   *slog.Logger // nil: silent

	// Written is told, in the executing process, before and after each entry is on disk. For tests that kill it there.
	Written func(Moment)
}

// Moment is a point around the writing of an entry.
type Moment struct {
	Run    string
	Number int
	Before bool
	Data   json.RawMessage // of the entry
}

func (o Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// forgetEnvironment takes out what would override our configuration from outside: the library reads it unasked.
func forgetEnvironment() {
	for _, name := range []string{"DBOS__APPVERSION", "DBOS__VMID", "DBOS__APPID", "DBOS__CLOUD", "DBOS_DOMAIN"} {
		_ = os.Unsetenv(name) // cannot fail for a constant name
	}
}
