package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/trial/run"
)

// Every way to write SQL and commands into a timeline is executed on a real server, in its order: the last step fails unless all before
// it have acted, on the node that they name.
func TestSQLAndCommandsOfATimelineAreExecuted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "written")
	steps := fmt.Sprintf(`  - run: {sql: CREATE TABLE plimsoll.made (a INT)}
  - run: {sql: [INSERT INTO plimsoll.made VALUES (1), INSERT INTO plimsoll.made VALUES (2)], on: n1}
    as: two rows
  - run: sql.execute
    with: {statements: [INSERT INTO plimsoll.made VALUES (3)], check: SELECT COUNT(*) FROM plimsoll.made, want: "3", node: n1}
  - run: {command: "printf short > %[1]s"}
  - run: {command: "test $(cat %[1]s) = short && printf ' on' >> %[1]s", on: n1}
    as: on its machine
  - run: command
    with: {run: "printf ' long' >> %[1]s"}
    as: long
  - run: sql.execute
    with: {statements: ["DO 1"], check: SELECT SUM(a) FROM plimsoll.made, want: "6"}
    as: looked at
`, file)
	result, err := run.Run(t.Context(), readBeside(t, steps, "expect:\n  - errors == 0\n"), catalog.Parts(), options(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	for _, p := range result.Verdict.Phases {
		phases = append(phases, p.Name)
	}
	wrote, err := os.ReadFile(file)
	if result.Verdict.Partial || err != nil || string(wrote) != "short on long" {
		t.Errorf("%s: %q; the commands wrote %q, %v", result.Verdict.Verdict, result.Verdict.Reasons, wrote, err)
	}
	for _, name := range []string{"sql", "two rows", "sql.execute", "command", "on its machine", "long", "looked at"} {
		if !slices.Contains(phases, name) {
			t.Errorf("there is no phase %q among %q", name, phases)
		}
	}
}

// A person who leaves the database out is told its name, also where that is not seen before the trial.
func TestWhereTheTablesOfTheWorkloadAre(t *testing.T) {
	result, err := run.Run(t.Context(), readBeside(t, "  - run: {sql: DELETE sbtest1 FROM sbtest1 WHERE id < 10}\n", "expect:\n  - errors == 0\n"), catalog.Parts(), options(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(result.Verdict.Reasons, "\n"); !strings.Contains(said, "No database selected") || !strings.Contains(said, "database plimsoll") {
		t.Errorf("%s: %s", result.Verdict.Verdict, said)
	}
}

// A typo in what the trial itself executes is neither a failed change nor a bad measurement: the trial could not run, and says where the typo is.
// A statement that the server understands and refuses is a change that failed.
func TestATypoInATimelineIsNoFailedChange(t *testing.T) {
	for step, want := range map[string]struct {
		answer analyze.Answer
		advice string // "": no typo
	}{
		"sql: DELETE FROM plimsoll.sbtset1": {analyze.CouldNotRun, "correct the name of the table"}, // found before the load, as is a file that is not there
		"sql: DELEET FROM plimsoll.sbtest1": {analyze.CouldNotRun, "correct what the trial's timeline executes there"},
		"command: ./nosuch.sh":              {analyze.CouldNotRun, "correct the path"},
		"command: exit 3":                   {analyze.Fail, ""},
		"sql: INSERT INTO plimsoll.sbtest1 SELECT * FROM plimsoll.sbtest1 LIMIT 1": {analyze.Fail, ""},
	} {
		t.Run(step, func(t *testing.T) {
			result, err := run.Run(t.Context(), readBeside(t, "  - run: {"+step+"}\n", "expect:\n  - errors == 0\n"), catalog.Parts(), options(t, nil))
			if err != nil {
				t.Fatal(err)
			}
			said, advice := strings.Join(result.Verdict.Reasons, "\n"), strings.Join(result.Verdict.Advice, "\n")
			if v := result.Verdict.Verdict; v != want.answer && !(want.answer == analyze.Fail && v == analyze.Invalid) { // a busy machine makes a trial invalid that could run
				t.Errorf("%s: %s: %s", step, v, said)
			}
			if typo := want.advice != ""; typo != strings.Contains(said, ".yaml:") || typo != strings.Contains(advice, "correct ") || !strings.Contains(advice, want.advice) {
				t.Errorf("%s: %q, advice %q", step, said, advice)
			}
		})
	}
}
