package custom

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/internal/golden"
	"plimsoll/workload/internal/recorder"
)

const page = "../../docs/workloads.md"

func TestTheReferenceIsMadeOfTheCode(t *testing.T) {
	golden.CheckBlock(t, page, "keys of the file", keysOf[heading]())
	golden.CheckBlock(t, page, "keys of a table", keysOf[tableKeys]())
	golden.CheckBlock(t, page, "keys of an operation", keysOf[operationKeys]())
	golden.CheckBlock(t, page, "keys of a request", keysOf[requestKeys]())

	var b strings.Builder
	b.WriteString("| generator | makes |\n|---|---|\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSpace(k.name+" "+k.form), k.doc)
	}
	golden.CheckBlock(t, page, "generators", b.String())

	text, err := os.ReadFile("../../examples/workloads/orders.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckBlock(t, page, "orders.yaml", "```yaml\n"+string(text)+"```\n")

	requests, err := os.ReadFile("../../examples/workloads/data-api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckBlock(t, page, "data-api.yaml", "```yaml\n"+string(requests)+"```\n")

	maker, err := Parse("orders.yaml", text, noon)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := workload.WriteReference(&b, maker); err != nil {
		t.Fatal(err)
	}
	golden.CheckBlock(t, page, "parameters of a file", b.String())
}

// keysOf writes the keys of a struct as a table.
func keysOf[T any]() string {
	var b strings.Builder
	b.WriteString("| key | |\n|---|---|\n")
	for _, f := range document.Fields(reflect.TypeFor[T]()) {
		name, needed, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if needed != "" {
			needed = " Required."
		}
		fmt.Fprintf(&b, "| `%s` | %s.%s |\n", name, f.Tag.Get("doc"), needed)
	}
	return b.String()
}

// Every whole file that the page shows can be read.
func TestThePagesFilesAreValid(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if !strings.HasPrefix(block, "workload:") {
			continue
		}
		files++
		if _, err := try(t, engineFor(sqlEngine{&recorder.Recorder{}}, block), page, block, ""); err != nil {
			t.Error(err)
		}
	}
	if files < 2 {
		t.Errorf("%d files found", files)
	}
}
