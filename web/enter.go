package web

import (
	"net/http"

	"plimsoll/web/access"
)

// entrance is where a stranger says who they are.
type entrance struct {
	Code    string `json:"-"`       // from the address: it is used up only when the form is sent
	ByCodes bool   `json:"by_code"` // else by name and password
	Refused bool   `json:"refused"`
	Back    string `json:"-"` // where they wanted to go
}

func (s *Server) entrance(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "enter", entrance{Code: r.FormValue("code"), ByCodes: s.Gate.ByCodes(), Back: r.FormValue("back")})
	return nil
}

// stranger sends who is not known to the entrance.
func (s *Server) stranger(w http.ResponseWriter, r *http.Request) {
	if wantsJSON(r) || r.Method != http.MethodGet {
		s.show(w, r, http.StatusUnauthorized, "trouble", failure{Status: http.StatusUnauthorized, Error: "you are not logged in",
			Hint: "in a browser, log in first; a program sends Authorization: Basic, or Bearer with the token of plimsoll serve"})
		return
	}
	s.show(w, r, http.StatusUnauthorized, "enter", entrance{ByCodes: s.Gate.ByCodes(), Back: r.URL.RequestURI()})
}

func (s *Server) enter(w http.ResponseWriter, r *http.Request) error {
	in, err := s.Gate.Enter(w, r, r.PostFormValue("code"), r.PostFormValue("name"), r.PostFormValue("password"))
	if err != nil {
		return err
	}
	if !in {
		s.show(w, r, http.StatusUnauthorized, "enter", entrance{ByCodes: s.Gate.ByCodes(), Refused: true, Back: r.PostFormValue("back")})
		return nil
	}
	back(w, r, r.PostFormValue("back"))
	return nil
}

// code gives an entry code to a program that has the token: plimsoll serve enter.
func (s *Server) code(w http.ResponseWriter, r *http.Request) error {
	if access.PersonOf(r.Context()).Method != access.ByToken || !s.Gate.ByCodes() {
		return &badRequest{"a login code needs the token of plimsoll serve", "plimsoll serve enter"}
	}
	s.showJSON(w, r, http.StatusOK, map[string]string{"code": s.Gate.Code()})
	return nil
}

func (s *Server) leave(w http.ResponseWriter, r *http.Request) error {
	s.Gate.Leave(w, r)
	back(w, r, "/enter")
	return nil
}
