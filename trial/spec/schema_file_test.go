package spec

import (
	"slices"
	"testing"
)

func TestStatementsOfAFile(t *testing.T) {
	got := statementsOf("-- a dump\nSET foreign_key_checks = 0;\n\nCREATE TABLE a (\n  id INT, -- the key\n  note TEXT DEFAULT ';x'\n);\nDELIMITER ;;\nCREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN\n  SET NEW.id = 1;\nEND;;\nDELIMITER ;\nINSERT INTO a VALUES (1, 'x')")
	want := []string{
		"SET foreign_key_checks = 0",
		"CREATE TABLE a (\n  id INT, -- the key\n  note TEXT DEFAULT ';x'\n)",
		"CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN\n  SET NEW.id = 1;\nEND",
		"INSERT INTO a VALUES (1, 'x')",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
