package admin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
)

// Two orders of this process to one server wait for each other: they do not take each other's connection for that of a process that was killed.
func TestOrdersOfOneProcessWaitForEachOther(t *testing.T) {
	var said []string
	orders := Orders{Name: "n1", Address: "orders-wait:3306", Value: func(_ context.Context, query string) (string, error) {
		said = append(said, query)
		return "1", nil
	}}
	limited, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var second error
	if err := orders.Alone(t.Context(), func() error {
		second = orders.Alone(limited, func() error { return nil })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if second == nil || !strings.Contains(second.Error(), "wait until another statement of Plimsoll on n1 has ended") {
		t.Errorf("a second order was given meanwhile: %v", second)
	}
	if len(said) != 2 || !strings.HasPrefix(said[0], "SELECT GET_LOCK(") || !strings.HasPrefix(said[1], "SELECT RELEASE_LOCK(") {
		t.Errorf("the server was asked %q", said)
	}
	busy := orders
	busy.Value = func(context.Context, string) (string, error) {
		return "", &engine.Error{Kind: engine.Unavailable, Code: "2013", Text: "the connection was lost"}
	}
	var stays *StaysReadOnlyError
	if err := AsStaysReadOnly(busy.Alone(t.Context(), func() error { t.Error("the order was given"); return nil })); !errors.As(err, &stays) {
		t.Errorf("an order to take writes that was not given leaves open whether the server takes them: %v", err)
	}
	other := orders
	other.Address = "another:3306"
	if err := orders.Alone(t.Context(), func() error { return other.Alone(t.Context(), func() error { return nil }) }); err != nil {
		t.Errorf("an order to another server: %v", err)
	}
}
