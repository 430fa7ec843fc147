package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/watch"
)

// A deployment tells of itself by JSON or by a form, and stands among the changes of those that it names.
func TestADeploymentMarksTheCurves(t *testing.T) {
	log := watch.OpenChanges(filepath.Join(t.TempDir(), "changes.jsonl"))
	now := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	known := func() []watch.Instance {
		return []watch.Instance{{Name: "orders/n1", Cluster: "orders"}, {Name: "orders/n2", Cluster: "orders"}, {Name: "mail/n1", Cluster: "mail"}}
	}
	h := Marks(log.Add, known, func() time.Time { return now })
	post := func(kind, body string) (int, string) {
		r := httptest.NewRequest(http.MethodPost, "/api/marks", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const form, json = "application/x-www-form-urlencoded", "application/json; charset=utf-8"
	for _, one := range []struct{ kind, body string }{
		{json, `{"what": "shop 4.2 deployed", "at": "2026-11-27T09:30:00Z"}`},
		{form, "what=index+dropped&instance=orders"},
		{json, `{"what": "host patched", "instance": "orders/n2"}`},
		{json, `{"what": "mail deployed", "instance": "mail/n1"}`},
	} {
		if code, answer := post(one.kind, one.body); code != http.StatusCreated || !strings.Contains(answer, `"kind":"mark"`) {
			t.Errorf("%s: %d %s", one.body, code, answer)
		}
	}
	for body, why := range map[string]string{
		`{"what": " "}`: "a mark needs a text", `{"text": "x"}`: "unknown field", `{"what": "x", "at": "2026-11-27T11:30:00Z"}`: "is in the future",
		`{"what": "x", "instance": "order/n1"}`: `did you mean \"orders/n1\"?`, `{"what": "x", "instance": "nonexist"}`: `no instance or cluster \"nonexist\" is watched`,
		`{"what": "a\nb"}`: "one line", `{"what": "` + strings.Repeat("x", 201) + `"}`: "at most 200", `{"what": "x"}{}`: "one object",
	} {
		if code, answer := post(json, body); code != http.StatusBadRequest || !strings.Contains(answer, why) {
			t.Errorf("%s: %d %s, expected %q", body, code, answer, why)
		}
	}
	if code, answer := post(form, "what=x&at=yesterday"); code != http.StatusBadRequest || !strings.Contains(answer, "expected such as") {
		t.Errorf("yesterday: %d %s", code, answer)
	}
	for instance, want := range map[string]string{"orders/n1": "shop 4.2 deployed, index dropped", "orders/n2": "shop 4.2 deployed, index dropped, host patched", "": "shop 4.2 deployed, index dropped, host patched, mail deployed"} {
		all, err := log.Between(instance, now.Add(-time.Hour), now)
		var what []string
		for _, c := range all {
			what = append(what, c.What)
		}
		if got := strings.Join(what, ", "); err != nil || got != want {
			t.Errorf("%q: %s, %v; expected %s", instance, got, err, want)
		}
	}
	w := httptest.NewRecorder()
	Marks(func(watch.Change) error { return errors.New("no room") }, known, time.Now).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/marks?what=x", http.NoBody))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("what cannot be kept is answered %d", w.Code)
	}
}
