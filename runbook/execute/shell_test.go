package execute

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/runbook/journal"
)

func TestAValueIsNeverReadAsShell(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(`
runbook: test/handed-over
inputs: {word: {}}
steps:
  - id: say
    uses: command
    with:
      run: |
        printf "%s|" "${{ inputs.word }}" "<${{ inputs.word }}>" > DIR/said; sh -c 'printf "%s" "$P_INPUTS_WORD"' >> DIR/said
      check: |
        test "$(cat DIR/said 2>/dev/null)" = "${{ inputs.word + '|' }}<${{ inputs.word }}>|${{ inputs.word }}"
      undo: |
        printf "%s" "${{ inputs.word }}" > DIR/undone; rm -f DIR/said
      env: {OTHER: "${{ inputs.word }}"}
`)
	const word = `$(touch DIR/owned) "; touch DIR/owned; ' ` + "`touch DIR/owned`"
	said := strings.ReplaceAll(word, "DIR", b.folder)
	run := b.begin(Request{Book: book, Inputs: map[string]string{"word": said}})
	e := b.started(run, journal.Command{Do: "run"})
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	st := b.stateOf(run)
	if got := b.read("said"); st.Outcome != journal.RunDone || got != said+"|<"+said+">|"+said {
		t.Errorf("%s %s: said %q", st.Status(), st.Items[0].Error, got)
	}
	if err := b.Start(t.Context(), e, run, journal.Command{Do: "cancel", Undo: true}); err == nil {
		_ = e.Wait(t.Context(), run)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.folder, "owned")); err == nil {
		t.Error("the value was executed")
	}
	step := st.Header.Plan.Steps[0]
	if step.Intended["env P_INPUTS_WORD"] != said || strings.Contains(step.Inputs["run"].(string), "owned") {
		t.Errorf("the plan shows %v", step.Intended)
	}
}
