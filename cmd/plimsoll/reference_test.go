package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

var update = flag.Bool("update", false, "write the reference pages")

// TestReferencePages holds the pages that are made from code to the code: make docs writes them.
func TestReferencePages(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"trial-reference.md":           func(w io.Writer) error { return spec.WriteReference(w, catalog.Parts()) },
		"cli.md":                       writeCLI,
		"schema/trial.schema.json":     func(w io.Writer) error { return writeSchema(w, "trial") },
		"schema/runbook.schema.json":   func(w io.Writer) error { return writeSchema(w, "runbook") },
		"schema/inventory.schema.json": func(w io.Writer) error { return writeSchema(w, "inventory") },
		"events.md":                    series.WriteEventReference,
		"schema/event.schema.json":     writeEventSchema,
	} {
		t.Run(name, func(t *testing.T) {
			var page bytes.Buffer
			if err := write(&page); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("..", "..", "docs", name)
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			have, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(have, page.Bytes()) {
				t.Errorf("docs/%s is not what the code says (%v): run make docs", name, err)
			}
		})
	}
}

func writeSchema(w io.Writer, kind string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(schemas[kind]())
}

func writeEventSchema(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(series.EventSchema())
}

func writeCLI(w io.Writer) error {
	fmt.Fprintf(w, "# Commands\n\nThis page is made from the code. Tab completion: `plimsoll completion --help`.\n")
	writeCommand(w, newRoot(console.Streams{}))
	return nil
}

func writeCommand(w io.Writer, cmd *cobra.Command) {
	if cmd.HasParent() && cmd.Runnable() && cmd.Annotations[console.OnlyNoun] == "" && !cmd.Hidden {
		fmt.Fprintf(w, "\n## %s\n\n", cmd.CommandPath())
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		fmt.Fprintf(w, "%s\n\n```\n%s\n```\n", text, cmd.UseLine())
		if cmd.HasAvailableLocalFlags() {
			fmt.Fprintf(w, "\n| flag | what | default |\n|---|---|---|\n")
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" {
					name := "`--" + f.Name + "`"
					if f.Shorthand != "" {
						name = "`-" + f.Shorthand + "`, " + name
					}
					fmt.Fprintf(w, "| %s | %s | %s |\n", name, strings.ReplaceAll(f.Usage, "|", "\\|"), defaultText(f))
				}
			})
		}
		if cmd.Example != "" {
			fmt.Fprintf(w, "\n```\n%s\n```\n", cmd.Example)
		}
	}
	for _, sub := range cmd.Commands() {
		if sub.Name() != "help" && sub.Name() != "completion" {
			writeCommand(w, sub)
		}
	}
}

func defaultText(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "[]" || f.DefValue == "false" || f.DefValue == "0s" || f.DefValue == "0" {
		return ""
	}
	return "`" + f.DefValue + "`"
}
