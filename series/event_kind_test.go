package series_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/series"
)

func TestEveryKindIsListedOnce(t *testing.T) {
	seen, said := map[series.EventKind]bool{}, map[string]bool{}
	for _, k := range series.EventKinds() {
		if k.Kind == "" || k.Group == "" || !strings.HasSuffix(k.Means, ".") && !strings.HasSuffix(k.Means, "percent.") || seen[k.Kind] || k.Kind.Group() != k.Group {
			t.Errorf("%+v", k)
		}
		seen[k.Kind] = true
		if k.Words == "" || said[k.Words] || k.Kind.Words() != k.Words || strings.ContainsAny(k.Words, ".:_") || strings.HasPrefix(k.Words, "server ") != (k.Group == series.OfServers) {
			t.Errorf("a report says %q of %s", k.Words, k.Kind)
		}
		said[k.Words] = true
	}
	if series.EventKind("node.flap").Group() != "" || series.EventKind("node.flap").Words() != "node.flap" {
		t.Error("a kind that is not listed has a group")
	}
}

func TestAnEventThatIsNotListedIsKeptAndSaid(t *testing.T) {
	var file bytes.Buffer
	w := series.NewEventWriter(&file)
	if err := w.Write(series.Event{Time: time.Unix(1, 0), Kind: series.StepEnd, Detail: map[string]any{"run": "a", "seconds": 1}}); err != nil {
		t.Error(err)
	}
	for want, e := range map[string]series.Event{
		"no kind of that name":                            {Time: time.Unix(1, 0), Kind: "node.flap"},
		"its detail has keys that are not listed: colour": {Time: time.Unix(1, 0), Kind: series.StepEnd, Detail: map[string]any{"colour": "red"}},
	} {
		if err := w.Write(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", e, err)
		}
	}
	if n := strings.Count(file.String(), "\n"); n != 3 {
		t.Errorf("%d events are kept, want 3", n)
	}
}
