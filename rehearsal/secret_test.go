package rehearsal

import (
	"context"
	"slices"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// portrayed is a server of which only its portrait is played.
type portrayed struct{ engine.Database }

func (p portrayed) Name() string                                                 { return "played" }
func (p portrayed) Open(context.Context, engine.Target) (engine.Database, error) { return p, nil }
func (portrayed) Close() error                                                   { return nil }
func (portrayed) Configured(context.Context) (map[string]string, []string, error) {
	return map[string]string{"sync_binlog": "1"}, []string{"the setting s3_secret_key (its value may hold a secret)"}, nil
}
func (portrayed) Schema(context.Context) (statements, without []string, err error) {
	return nil, []string{"events (1)"}, nil
}

// A setting that may hold a secret is not in the lab, and the draft says so.
func TestASettingThatIsLeftOutIsTold(t *testing.T) {
	var d Draft
	config, err := d.look(t.Context(), &cluster.Cluster{Name: "c", Engine: portrayed{}}, []cluster.Node{{Name: "n1"}}, 1<<30)
	if err != nil || len(config) != 1 || config["sync_binlog"] != "1" {
		t.Errorf("%v, %v", config, err)
	}
	if want := []string{"without the setting s3_secret_key (its value may hold a secret), events (1)"}; !slices.Equal(d.Differs, want) {
		t.Errorf("it differs in %q, want %q", d.Differs, want)
	}
}
