package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnAddressWithoutAPageSaysSo(t *testing.T) {
	if a := newHouse(t).entered().get("/nothing", "Accept", "application/json"); a.status != http.StatusNotFound || !strings.Contains(a.body, "there is no page at this address") {
		t.Errorf("it is answered %d: %s", a.status, a.body)
	}
}

func TestABrowserThatLeftIsNotLogged(t *testing.T) {
	h := newHouse(t)
	wrong := errors.New("the query was canceled")
	request := httptest.NewRequest("GET", "/fleet/orders/n1", nil)
	gone, leave := context.WithCancel(request.Context())
	leave()
	h.fail(httptest.NewRecorder(), request.WithContext(gone), wrong)
	if strings.Contains(h.logged.String(), wrong.Error()) {
		t.Errorf("a browser that left is logged as an error: %s", h.logged)
	}
	h.fail(httptest.NewRecorder(), request, wrong)
	if !strings.Contains(h.logged.String(), wrong.Error()) {
		t.Error("an error of the page is not logged")
	}
}
