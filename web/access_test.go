package web

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"plimsoll/report/reporttest"
	"plimsoll/web/access"
)

func TestNobodyGetsInWithoutShowingWhoTheyAre(t *testing.T) {
	h := newHouse(t)
	v := h.visitor()
	for _, path := range []string{"/", "/runs", "/runs/x", "/runs/x/log", "/runs/x/evidence", "/runs/x/approve", "/runbooks", "/runbooks/test/quick", "/nothing",
		"/fleet", "/fleet/orders/n1", "/alerts", "/advice", "/advice/orders", "/trials", "/trials/live", "/trials/result/x", "/live?page=/", "/api/v1/query?query=up", "/metrics"} {
		if a := v.get(path); a.status != http.StatusUnauthorized || strings.Contains(a.body, "Writes one word") || strings.Contains(a.body, "burst") {
			t.Errorf("GET %s answers a stranger %d", path, a.status)
		}
	}
	for _, path := range []string{"/plan", "/runs", "/runs/x/approve", "/runs/x/reject", "/runs/x/resume", "/runs/x/cancel", "/runs/x/rerun", "/leave", "/enter/code", "/trials", "/trials/stop", "/advice/orders", "/api/v1/query"} {
		if a := v.post(path); a.status != http.StatusUnauthorized {
			t.Errorf("POST %s answers a stranger %d", path, a.status)
		}
	}
	if a := v.get("/runs", "Authorization", "Bearer wrong"); a.status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", a.status)
	}
}

func TestAnEntryCodeIsGoodOnceAndNotForLong(t *testing.T) {
	h := newHouse(t)
	code := h.Gate.Code()
	if a := h.visitor().get("/enter?code=" + code); a.status != http.StatusOK || len(a.header.Values("Set-Cookie")) > 0 {
		t.Fatalf("looking at the address answers %d and sets %v", a.status, a.header.Values("Set-Cookie"))
	}
	first := h.visitor()
	a := first.post("/enter", "code", code, "back", "/runs")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/runs" {
		t.Fatalf("entering answers %d to %s", a.status, a.header.Get("Location"))
	}
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie lacks %s: %s", want, cookie)
		}
	}
	if strings.Contains(cookie, code) {
		t.Error("the cookie holds the code")
	}
	if a := h.visitor().post("/enter", "code", code); a.status != http.StatusUnauthorized {
		t.Errorf("the second time it answers %d", a.status)
	}
	late := h.Gate.Code()
	h.now.advance(6 * time.Minute)
	if a := h.visitor().post("/enter", "code", late); a.status != http.StatusUnauthorized {
		t.Errorf("after six minutes it answers %d", a.status)
	}
	if a := first.get("/"); a.status != http.StatusOK {
		t.Errorf("who entered is answered %d", a.status)
	}
	h.now.advance(13 * time.Hour)
	if a := first.get("/"); a.status != http.StatusUnauthorized {
		t.Errorf("after thirteen idle hours: %d", a.status)
	}
}

func TestLeavingEndsTheSession(t *testing.T) {
	h := newHouse(t)
	v := h.visitor()
	cookie, _, _ := strings.Cut(v.post("/enter", "code", h.Gate.Code()).header.Get("Set-Cookie"), ";")
	if a := h.visitor().get("/", "Cookie", cookie); a.status != http.StatusOK {
		t.Fatalf("the cookie is answered %d", a.status)
	}
	v.post("/leave")
	if a := h.visitor().get("/", "Cookie", cookie); a.status != http.StatusUnauthorized {
		t.Errorf("after leaving the old cookie is answered %d", a.status)
	}
}

// An attacker who plants a cookie before the victim enters does not get the victim's session.
func TestASessionCannotBePlanted(t *testing.T) {
	h := newHouse(t)
	name, _, _ := strings.Cut(h.visitor().post("/enter", "code", h.Gate.Code()).header.Get("Set-Cookie"), "=")
	planted := name + "=planted"
	a := h.visitor().do(http.MethodPost, "/enter", map[string][]string{"code": {h.Gate.Code()}}, "Cookie", planted)
	if a.status != http.StatusSeeOther || strings.Contains(a.header.Get("Set-Cookie"), "planted") {
		t.Fatalf("entering answers %d, %s", a.status, a.header.Get("Set-Cookie"))
	}
	if a := h.visitor().get("/", "Cookie", planted); a.status != http.StatusUnauthorized {
		t.Errorf("the planted cookie is answered %d", a.status)
	}
}

func TestOnlyItsOwnNamesAreAnswered(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	port := h.url[strings.LastIndexByte(h.url, ':'):]
	for host, want := range map[string]int{
		"127.0.0.1" + port: 200, "localhost" + port: 200, "[::1]" + port: 200, "evil.example" + port: 421, "127.0.0.1.evil.example" + port: 421,
		"localhost.evil.example": 421, "127.evil.example": 421, "10.0.0.1" + port: 421, "": 200,
	} {
		headers := []string{}
		if host != "" {
			headers = []string{"Host", host}
		}
		if a := v.get("/enter", headers...); a.status != want {
			t.Errorf("asked for as %q it answers %d, expected %d", host, a.status, want)
		}
	}
}

// The names of the web configuration are answered and no other, and a browser that came by one of them through a proxy that writes another Host may change things.
func TestNamesOfTheConfigurationAreAnswered(t *testing.T) {
	h := newHouseWith(t, fmt.Sprintf("basic_auth_users: {ann: %q}\nhosts: [plimsoll.example, db.corp.example]\n", hash(t, "a")))
	for host, want := range map[string]int{
		"plimsoll.example": 200, "plimsoll.example:7070": 200, "Plimsoll.Example.": 200, "db.corp.example": 200,
		"evil.example": 421, "www.plimsoll.example": 421, "plimsoll.example.evil.example": 421, "corp.example": 421,
	} {
		if a := h.visitor().get("/enter", "Host", host); a.status != want {
			t.Errorf("asked for as %q it answers %d, expected %d", host, a.status, want)
		}
	}
	for origin, want := range map[string]int{
		"https://plimsoll.example": http.StatusSeeOther, "https://db.corp.example": http.StatusSeeOther,
		"https://evil.example": http.StatusForbidden, "http://plimsoll.example": http.StatusForbidden, "https://plimsoll.example.evil.example": http.StatusForbidden,
	} {
		a := h.visitor().do(http.MethodPost, "/enter", url.Values{"name": {"ann"}, "password": {"a"}}, "Sec-Fetch-Site", "", "Origin", origin)
		if a.status != want {
			t.Errorf("a form of %s is answered %d, expected %d", origin, a.status, want)
		}
	}
}

func TestOtherSitesChangeNothing(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks", "orders")
	h.await(run, "asking")
	for name, headers := range map[string][]string{
		"another site's form":          {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		"another port of this host":    {"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"},
		"an old browser's other site":  {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
		"a program with only a cookie": {"Sec-Fetch-Site", "", "Origin", ""},
	} {
		a := v.do(http.MethodPost, "/runs/"+run+"/cancel", map[string][]string{"undo": {"yes"}}, headers...)
		if a.status != http.StatusForbidden && a.status != http.StatusUnauthorized {
			t.Errorf("%s is answered %d", name, a.status)
		}
	}
	for _, path := range []string{"/runs/" + run + "/cancel", "/runs/" + run + "/approve", "/leave", "/plan"} {
		if path != "/runs/"+run+"/approve" {
			if a := v.get(path); a.status == http.StatusOK || a.status == http.StatusSeeOther {
				t.Errorf("GET %s answers %d", path, a.status)
			}
		}
	}
	if st := h.await(run, "asking"); st.Stopping != nil {
		t.Error("it was cancelled")
	}
	if a := h.visitor().do(http.MethodPost, "/runs/"+run+"/cancel", map[string][]string{"undo": {"yes"}}, "Sec-Fetch-Site", "", "Authorization", "Bearer the-token", "Accept", "application/json"); a.status != http.StatusAccepted {
		t.Errorf("a program with the token is answered %d: %s", a.status, a.body)
	}
	h.await(run, "undone")
}

func TestWhatTheBrowserIsTold(t *testing.T) {
	h := newHouse(t)
	for _, path := range []string{"/", "/enter", "/assets/page.css", "/nothing"} {
		a := h.entered().get(path)
		for header, want := range map[string]string{
			"Content-Security-Policy":    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
			"X-Content-Type-Options":     "nosniff",
			"Referrer-Policy":            "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin",
			"X-Frame-Options":            "DENY",
		} {
			if got := a.header.Get(header); got != want {
				t.Errorf("%s: %s is %q", path, header, got)
			}
		}
		if got := a.header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s allows origin %s", path, got)
		}
	}
}

func TestTryingToEnterIsSlowedDown(t *testing.T) {
	h := newHouse(t)
	v := h.visitor()
	for range 12 {
		v.post("/enter", "code", "guess")
	}
	if a := v.post("/enter", "code", h.Gate.Code()); a.status != http.StatusUnauthorized {
		t.Errorf("after twelve guesses the right code is answered %d", a.status)
	}
	h.now.advance(time.Minute)
	if a := v.post("/enter", "code", h.Gate.Code()); a.status != http.StatusSeeOther {
		t.Errorf("a minute later it is answered %d", a.status)
	}
}

func TestALargeRequestIsRefused(t *testing.T) {
	h := newHouse(t)
	if a := h.entered().post("/plan", "runbook", "test/quick", "cluster", strings.Repeat("x", 2<<20)); a.status < 400 || a.status >= 500 {
		t.Errorf("two megabytes are answered %d", a.status)
	}
}

func TestGoingBackStaysHere(t *testing.T) {
	h := newHouse(t)
	for _, to := range []string{"https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/%0d%0aX: y"} {
		a := h.visitor().post("/preferences", "language", "ko", "back", to)
		if got := a.header.Get("Location"); !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.Contains(got, "evil") {
			t.Errorf("%q leads to %q", to, got)
		}
	}
}

func hash(t *testing.T, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

func TestUsersHaveRoles(t *testing.T) {
	config := fmt.Sprintf("basic_auth_users: {vera: %q, otto: %q, ann: %q}\nroles: {otto: operate, ann: approve}\nproxy: {from: [192.0.2.1], user_header: X-User}\n", hash(t, "v"), hash(t, "o"), hash(t, "a"))
	h := newHouseWith(t, config)
	enter := func(name, password string) *visitor {
		v := h.visitor()
		if a := v.post("/enter", "name", name, "password", password); a.status != http.StatusSeeOther {
			t.Fatalf("%s is answered %d", name, a.status)
		}
		return v
	}
	vera, otto, ann := enter("vera", "v"), enter("otto", "o"), enter("ann", "a")
	for name, fields := range map[string][]string{"wrong password": {"name", "vera", "password", "x"}, "unknown": {"name", "eve", "password", "v"}, "code": {"code", h.Gate.Code()}} {
		if a := h.visitor().post("/enter", fields...); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if a := vera.post("/plan", "runbook", "test/quick", "cluster", "orders"); a.status != http.StatusForbidden || !strings.Contains(a.body, "vera has the role view; what you asked for needs the role operate") ||
		!strings.Contains(a.body, "roles: {vera: operate} in the web configuration, the file that --web-config names, gives vera that role") {
		t.Errorf("vera plans: %d %s", a.status, a.body)
	}
	if a := vera.post("/advice/orders", "class", "db.m5.large"); a.status != http.StatusForbidden {
		t.Errorf("vera has a database looked at: %d", a.status)
	}
	for password, want := range map[string]int{"vera:v": http.StatusForbidden, "otto:o": http.StatusCreated} {
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(password))
		if a := h.visitor().do(http.MethodPost, "/api/marks", url.Values{"what": {"shop deployed"}}, "Authorization", basic, "Sec-Fetch-Site", ""); a.status != want {
			t.Errorf("%s marks a deployment: %d, expected %d", password, a.status, want)
		}
	}
	if !slices.Equal(h.marked, []string{"shop deployed"}) {
		t.Errorf("marked: %q", h.marked)
	}
	run := otto.begin("test/asks", "orders")
	h.await(run, "asking")
	if page := vera.get("/runs/" + run + "/approve").body; strings.Contains(page, "<button class=\"main\">Approve") {
		t.Error("vera is shown how to approve")
	}
	plan := h.await(run, "asking").Header.Plan.Hash
	for name, v := range map[string]*visitor{"vera": vera, "otto": otto} {
		if a := v.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders"); a.status != http.StatusForbidden || !strings.Contains(a.body, "; approving needs the role approve") {
			t.Errorf("%s approves: %d %s", name, a.status, a.body)
		}
	}
	if a := ann.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders"); a.status != http.StatusSeeOther {
		t.Fatalf("ann approves: %d %s", a.status, a.body)
	}
	if st := h.await(run, "done"); st.Header.By != "otto" || st.Item("go").Approved[0] != "ann" {
		t.Errorf("by %s, approved by %v", st.Header.By, st.Item("go").Approved)
	}
	if a := h.visitor().do(http.MethodGet, "/runs", nil, "Authorization", "Basic dmVyYTp2", "Accept", "application/json"); a.status != http.StatusOK {
		t.Errorf("a program with vera's password: %d", a.status)
	}
	if a := h.visitor().get("/runs", "X-User", "ann"); a.status != http.StatusUnauthorized {
		t.Errorf("a header that no proxy set lets in: %d", a.status)
	}
	// Who is taken out of the file is out at once.
	h.write("web.yml", strings.Replace(config, "vera:", "vera2:", 1))
	if a := vera.get("/runs"); a.status != http.StatusUnauthorized {
		t.Errorf("vera, taken out, is answered %d", a.status)
	}
}

func TestProductionIsApprovedByAnotherPerson(t *testing.T) {
	h := newHouseWith(t, fmt.Sprintf("basic_auth_users: {ann: %q, bob: %q}\nroles: {ann: approve, bob: approve}\n", hash(t, "a"), hash(t, "b")))
	ann, bob := h.visitor(), h.visitor()
	ann.post("/enter", "name", "ann", "password", "a")
	bob.post("/enter", "name", "bob", "password", "b")
	if a := ann.post("/plan", "runbook", "test/asks", "cluster", "prod-orders"); !strings.Contains(a.body, "0 of 2 consecutive rehearsals") || strings.Contains(a.body, "Begin the run") {
		t.Errorf("the gate is not shown closed: %d", a.status)
	}
	a := ann.post("/runs", "runbook", "test/asks", "cluster", "prod-orders", "plan", closedPlan(ann))
	if a.status != http.StatusConflict || !strings.Contains(a.body, "the gate is closed") {
		t.Errorf("a closed gate answers %d: %s", a.status, a.body)
	}
	run := beginPast(t, h, "ann@laptop", "prod-orders") // by a command, from her account
	plan := h.await(run, "asking").Header.Plan.Hash
	if a := ann.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "prod-orders"); a.status != http.StatusConflict {
		t.Errorf("her own run: %d", a.status)
	}
	if a := h.visitor().do(http.MethodPost, "/runs/"+run+"/approve", map[string][]string{"step": {"go"}, "plan": {plan}, "cluster": {"prod-orders"}}, "Authorization", "Bearer the-token"); a.status != http.StatusConflict {
		t.Errorf("with the token: %d", a.status)
	}
	if a := bob.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "prod-orders"); a.status != http.StatusSeeOther {
		t.Errorf("bob: %d %s", a.status, a.body)
	}
	h.await(run, "done")
}

func TestAnAddressForOthersNeedsUsersAndACertificate(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "web.yml")
	for _, config := range []string{"", "basic_auth_users: {ann: '" + hash(t, "a") + "'}\n", "tls_server_config: {cert_file: c, key_file: k}\n"} {
		o := access.Options{Listen: "0.0.0.0:7070"}
		if config != "" {
			if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			o.Config = path
		}
		if _, err := access.New(o); err == nil {
			t.Errorf("it is shown to everybody with %q", config)
		}
	}
}

// A proxy that is listed says who a request comes from, and that person has their role. The same header from anywhere else is ignored, and that is logged once.
func TestAProxyNamesThePerson(t *testing.T) {
	const config = "roles: {otto: operate}\nproxy: {from: [%s], user_header: X-User}\n"
	h := newHouseWith(t, fmt.Sprintf(config, "127.0.0.0/8"))
	if a := h.visitor().get("/runs", "X-User", "vera"); a.status != http.StatusOK || !strings.Contains(a.body, "vera") {
		t.Errorf("vera, named by the proxy, is answered %d", a.status)
	}
	for name, want := range map[string]int{"vera": http.StatusForbidden, "otto": http.StatusOK} {
		if a := h.visitor().do(http.MethodPost, "/plan", url.Values{"runbook": {"test/quick"}, "cluster": {"orders"}}, "X-User", name); a.status != want {
			t.Errorf("%s plans: %d, want %d", name, a.status, want)
		}
	}
	if a := h.visitor().get("/runs"); a.status != http.StatusUnauthorized {
		t.Errorf("a request that names nobody is answered %d", a.status)
	}
	h.write("web.yml", fmt.Sprintf(config, "192.0.2.1"))
	for range 3 {
		if a := h.visitor().get("/runs", "X-User", "otto"); a.status != http.StatusUnauthorized {
			t.Errorf("a header from elsewhere: %d", a.status)
		}
	}
	if n := strings.Count(h.logged.String(), "a header that names a person is ignored"); n != 1 {
		t.Errorf("logged %d times: %s", n, h.logged)
	}
}

// What templates escape stays escaped: one place turns pictures that we drew into markup.
func TestNothingIsMarkedAsSafe(t *testing.T) {
	safe := regexp.MustCompile(`template\.(HTML|JS|CSS|URL|HTMLAttr|JSStr|Srcset)\b`)
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if file != "picture.go" && !strings.HasSuffix(file, "_test.go") && safe.Match(text) {
			t.Errorf("%s marks text as safe: only picture.go may", file)
		}
	}
}

// No page, stream or log holds what lets somebody in.
func TestNoSecretIsShown(t *testing.T) {
	secret := hash(t, "pa55word")
	h := newHouseWith(t, fmt.Sprintf("basic_auth_users: {ann: %q}\nroles: {ann: approve}\n", secret))
	v := h.visitor()
	cookie, _, _ := strings.Cut(v.post("/enter", "name", "ann", "password", "pa55word").header.Get("Set-Cookie"), ";")
	_, session, _ := strings.Cut(cookie, "=")
	v.post("/enter", "name", "ann", "password", "pa55word-wrong")
	var all strings.Builder
	run := v.begin("test/asks", "orders")
	h.await(run, "asking")
	h.keep("timeline/1", reporttest.Timeline())
	v.post("/trials", "file", "examples/demo/trial.yaml", "quick", "yes")
	all.WriteString(v.post("/plan", "runbook", "test/asks", "cluster", "orders").body)
	changing := []string{"/", "/runs", "/runs/" + run, "/fleet", "/fleet/orders/n1", "/alerts", "/advice", "/advice/orders", "/trials", "/trials/live"}
	for _, path := range append(changing, "/runs/"+run+"/approve", "/runs/"+run+"/log", "/runs/"+run+"/evidence", "/trials/result/timeline/1", h.Watch.picture().Alerts[0].Page(), "/runbooks", "/runbooks/test/asks", "/enter", "/nothing", "/runs/none") {
		all.WriteString(v.get(path).body)
		all.WriteString(v.get(path, "Accept", "application/json").body)
	}
	for _, path := range changing {
		l, _ := listen(t, v, path)
		all.WriteString(l.hear(t, "part", ""))
	}
	all.WriteString(h.logged.String())
	for name, canary := range map[string]string{"the token": "the-token", "the hash": secret, "the password": "pa55word", "the session": session} {
		if strings.Contains(all.String(), canary) {
			t.Errorf("%s is shown", name)
		}
	}
}
