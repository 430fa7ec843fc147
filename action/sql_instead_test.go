package action

import "testing"

// What a server suggests is an input of mysql/alter-table; of a copy it is said what it costs.
func TestTheClauseThatAServerSuggestsIsAnInput(t *testing.T) {
	const ends = "(end this run first: plimsoll runbook cancel RUN): mysql/alter-table -i "
	for clause, want := range map[string]string{
		"ALGORITHM=INPLACE": "the server suggests ALGORITHM=INPLACE " + ends + "algorithm=INPLACE plans the change so",
		"ALGORITHM=NOCOPY":  "the server suggests ALGORITHM=NOCOPY " + ends + "algorithm=INPLACE plans the change so",
		"LOCK=SHARED":       "the server suggests LOCK=SHARED " + ends + "lock=SHARED plans the change so",
		"ALGORITHM=COPY": "the server suggests ALGORITHM=COPY " + ends + "algorithm=COPY plans the change so; nobody can write to the table meanwhile, " +
			"which -i algorithm=online avoids where pt-online-schema-change or gh-ost is installed",
	} {
		if got := instead(clause); got != want {
			t.Errorf("%s\nis   %q\nwant %q", clause, got, want)
		}
	}
}
