package journal

import (
	"context"
	"encoding/json"
	"fmt"

	"plimsoll/action"
	"plimsoll/durable"
)

// Load reads how a run of a store stands.
func Load(ctx context.Context, store *durable.Store, actions []action.Action, run string) (*State, error) {
	entries, err := store.Entries(ctx, run)
	if err != nil {
		return nil, err
	}
	st, err := Fold(entries, actions)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run, err)
	}
	if len(entries) == 0 {
		r, err := store.Run(ctx, run)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(r.Header, &st.Header); err != nil {
			return nil, fmt.Errorf("read the header of %s: %w", run, err)
		}
	}
	return st, nil
}
