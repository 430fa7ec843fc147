package watch

import "testing"

// renewed is a login that remembers what it was told.
type renewed struct{ password string }

func (r *renewed) Renew(newer Login) { r.password = newer.(*renewed).password }

// The collectors that read an instance go on, and log in as a newer source of it says.
func TestANewerSourceRenewsTheLogin(t *testing.T) {
	before, after := source("a/n1", &fake{}), source("a/n1", &fake{})
	login := &renewed{"old"}
	before.Login, after.Login = login, &renewed{"new"}
	w := New(Config{Sources: []Source{before}})
	w.Follow([]Source{after})
	if login.password != "new" || w.sources[0].Collectors[0] != before.Collectors[0] {
		t.Errorf("the login is %s", login.password)
	}
	w.Follow([]Source{source("a/n1", &fake{})}) // such as what is left of a lab that has died
	if login.password != "new" {
		t.Errorf("afterwards the login is %s", login.password)
	}
}
