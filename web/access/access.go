// Package access decides who may see and do what on the web page: who a request comes from, which role that person has, and which
// requests are refused before anybody looks at them.
package access

import (
	"context"
	"net/http"
	"time"
)

// Role is what a person may do. Each includes those before it.
type Role int

// The roles.
const (
	Nobody  Role = iota
	View         // sees everything
	Operate      // plans, begins, resumes, reruns and cancels runs; begins trials
	Approve      // approves and rejects
)

var roleNames = map[string]Role{"view": View, "operate": Operate, "approve": Approve}

// String is the role as a file and a page write it.
func (r Role) String() string {
	for name, role := range roleNames {
		if role == r {
			return name
		}
	}
	return "nobody"
}

// Method is how a person showed who they are. An approval is kept with it.
type Method string

// The methods.
const (
	ByCode     Method = "entry code" // which was printed in the terminal of who runs plimsoll serve
	ByPassword Method = "password"
	ByToken    Method = "token" // of the file beside the state folder; who holds it is nobody in particular
	ByProxy    Method = "proxy" // which named the person in a header
)

// Person is who a request comes from.
type Person struct {
	Name   string    `json:"name"`
	Role   Role      `json:"-"`
	Method Method    `json:"method"`
	Since  time.Time `json:"since"` // when they showed it last
}

// May tells whether the person has a role.
func (p Person) May(role Role) bool { return p.Role >= role }

type personKey struct{}

// PersonOf returns who a request comes from: the zero Person on the pages that need none.
func PersonOf(ctx context.Context) Person {
	p, _ := ctx.Value(personKey{}).(Person)
	return p
}

// As is a request as it would come from a person.
func As(r *http.Request, p Person) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), personKey{}, p))
}
