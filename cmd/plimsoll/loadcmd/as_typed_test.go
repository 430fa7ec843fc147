package loadcmd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"plimsoll/hint"
	"plimsoll/workload"
)

// Where data is missing, or in the way, the command that helps is told whole.
func TestTheHintAboutMissingDataIsAWholeCommand(t *testing.T) {
	o := options{target: "lab:demo", workload: "our orders.yaml", parameters: []string{"tables=4"}, passwordEnv: "DB_PASSWORD"}
	const flags = "--target lab:demo --workload 'our orders.yaml' --param tables=4 --password-env DB_PASSWORD"
	for err, want := range map[error]string{
		error(&workload.AbsentError{What: "there is no table orders"}): "create the data first: plimsoll load prepare " + flags,
		error(&workload.PresentError{Table: "orders"}):                 "run the load on the existing data, or remove it first: plimsoll load cleanup " + flags,
		errors.New("the server closed the connection"):                 "",
	} {
		if got := hint.Of(o.typed().Explain(fmt.Errorf("check the data: %w", err))); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	if got := o.left(ctx); got != "" {
		t.Errorf("an error: %q", got)
	}
	interrupt()
	if got, want := o.left(ctx), "The data is loaded in part, and stays. To remove it: plimsoll load cleanup "+flags; got != want {
		t.Errorf("interrupted: %q, want %q", got, want)
	}
}
