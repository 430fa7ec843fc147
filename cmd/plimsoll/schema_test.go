package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"plimsoll/cmd/plimsoll/console"
)

// kindOf is what kind of file a text is, by the key it begins with; "" if it is none that has a schema.
func kindOf(text []byte) string {
	for kind, begins := range map[string]string{"trial": `(?m)^trial:`, "runbook": `(?m)^runbook:`, "inventory": `(?m)^clusters:`} {
		if regexp.MustCompile(begins).Match(text) {
			return kind
		}
	}
	return ""
}

func compiled(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(schemas[kind]())
	if err != nil {
		t.Fatal(err)
	}
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(kind+".json", read); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(kind + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// fits tells whether a text of YAML fits a schema.
func fits(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(value) // numbers and keys as JSON has them
	if err != nil {
		t.Fatal(err)
	}
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(read)
}

func TestEveryExampleAndRunbookFitsItsSchema(t *testing.T) {
	all := map[string]*jsonschema.Schema{}
	for kind := range schemas {
		all[kind] = compiled(t, kind)
	}
	seen := map[string]int{}
	for _, folder := range []string{"examples", filepath.Join("runbook", "books")} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			kind := kindOf(text)
			if kind == "" {
				return nil
			}
			seen[kind]++
			if err := fits(t, all[kind], text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if folder == "examples" && !bytes.HasPrefix(text, []byte("# yaml-language-server: $schema=")) {
				t.Errorf("%s: its first line names no schema for editors", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen["trial"] < 30 || seen["runbook"] < 40 || seen["inventory"] < 1 {
		t.Errorf("only %v were held against their schemas", seen)
	}
}

func TestSchemasRefuseWhatTheReadersRefuse(t *testing.T) {
	for kind, texts := range map[string][]string{
		"trial": {
			"trial: a\ncluster: {engine: mariadb}\nload: {workload: tpcc}\nphases: {warmup: soon}\n",
			"trial: a\ncluster: {engine: mariadb, colour: red}\nload: {workload: tpcc}\n",
			"cluster: {engine: mariadb}\nload: {workload: tpcc}\n",
			"trial: a\ncluster: {engine: mariadb}\nload: {workload: tpcc, rate: fast}\n",
		},
		"runbook": {
			"runbook: a\nsteps: [{id: one, uses: sql.execute, with: {colour: red}}]\n",
			"runbook: a\nsteps: [{uses: sql.execute}]\n",
			"runbook: a\nlock: all\nsteps: []\n",
			"runbook: a\ninputs: {size: {rehearse: {from: 64M, to: 1G}}}\nsteps: [{id: one, uses: sql.execute}]\n",
			"runbook: a\ninputs: {size: {rehearse: {}}}\nsteps: [{id: one, uses: sql.execute}]\n",
			"runbook: a\ninputs: {size: {rehearse: {any: it is a comment, why: so}}}\nsteps: [{id: one, uses: sql.execute}]\n",
			"runbook: a\nsteps: [{id: each, rolling: {}, steps: [{id: in, colour: red}]}]\n",
		},
		"inventory": {
			"clusters: {a: {engine: mysql, environment: lab, user: root}}\n",
			"clusters: {a: {engine: mysql, environment: lab, user: root, nodes: [{name: n1}]}}\n",
		},
	} {
		schema := compiled(t, kind)
		for _, text := range texts {
			if fits(t, schema, []byte(text)) == nil {
				t.Errorf("taken as %s: %s", kind, strings.TrimSpace(text))
			}
		}
	}
}

func TestAnUnknownKindOfFileIsRefused(t *testing.T) {
	var out, errs strings.Builder
	if code := program(t.Context(), []string{"schema", "report"}, console.Streams{Out: &out, Err: &errs}); code != 2 || !strings.Contains(errs.String(), "expected inventory, runbook or trial") {
		t.Errorf("code %d: %s", code, errs.String())
	}
}
