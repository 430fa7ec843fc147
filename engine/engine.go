// Package engine is the port to databases.
//
// An adapter (engine/mysql, engine/cql, engine/singlestore, engine/httpapi) implements Engine and must pass enginetest.Run. What only some
// engines can do are optional interfaces, such as Launcher, Configurable and KeyValue: As asks for one.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"
)

// Engine is a family of database.
type Engine interface {
	// Name is the adapter's name and the scheme of its target URLs: mysql, cql.
	Name() string
	// Open prepares to talk to one data set and proves that it answers.
	Open(ctx context.Context, t Target) (Database, error)
}

// Database is a data set that answers. It is safe for concurrent use.
type Database interface {
	// Session opens one stream of statements, to be used by one goroutine.
	Session(ctx context.Context) (Session, error)
	// Facts says what is running there.
	Facts(ctx context.Context) (Facts, error)
	Close() error
}

// Session runs statements one after another. A call whose ctx ends breaks the connection, as Interrupt does.
type Session interface {
	// Prepare readies a statement with ? placeholders to be executed many times.
	Prepare(ctx context.Context, text string) (Statement, error)
	// Exec runs a text without parameters (DDL, BEGIN, COMMIT, administration). r may be nil.
	Exec(ctx context.Context, text string, r *Result) error
	// Interrupt breaks the connection under a call that is under way. The only method that another goroutine may call.
	Interrupt()
	Close() error
}

// Statement is a prepared statement of one session. It ends with its session; one that is an io.Closer may end before.
type Statement interface {
	// Exec runs it. args are only read during the call; r, if not nil, is reset and filled. Neither allocates in the
	// steady state, in which ctx is the same from call to call, unless a driver beneath the adapter does.
	Exec(ctx context.Context, args []Value, r *Result) error
}

// Facts is what runs at a target.
type Facts struct {
	Product string            // MariaDB, MySQL, Cassandra
	Version string            // 11.4.5
	Details map[string]string // edition, storage engine and the like, by the engine's own names
}

// Target is where a data set is and who asks. It never prints its password.
type Target struct {
	Engine    string
	Addresses []string // host:port, or the path of a Unix socket; of one cluster, whose primary is found among them
	Namespace string   // database or keyspace; may be empty
	User      string
	Password  Secret
	Options   map[string]string // the engine's own, for example tls=required, consistency=LOCAL_QUORUM
	Timeout   time.Duration     // to connect; 0: 5 s
	IfDown    string            // what a person is told to do where nothing listens there; may be empty

	// OwnDefaults makes all sessions such as who changes servers needs them, whatever a person set as the server's defaults: they are given all
	// rows, and commit what they write. Where sessions take no settings from the server it means nothing.
	OwnDefaults bool
}

// Advised is an error of connecting to the target, with what to do if nothing listens there.
func (t Target) Advised(err error) error {
	var e *Error
	if t.IfDown != "" && errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &e) && e.Do == "" {
		e.Do = t.IfDown
	}
	return err
}

// With is the target with an option of that value.
func (t Target) With(option, value string) Target {
	options := map[string]string{option: value}
	for name, value := range t.Options {
		if name != option {
			options[name] = value
		}
	}
	t.Options = options
	return t
}

// Secret is a text, such as a password, that no format, log or JSON shows.
type Secret string

const hidden = "•••"

func (Secret) String() string               { return hidden }
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Redact hides it in an error whose text a server has written.
func (s Secret) Redact(err error) error {
	if err == nil || s == "" || !strings.Contains(err.Error(), string(s)) {
		return err
	}
	shown := func(text string) string { return strings.ReplaceAll(text, string(s), hidden) }
	out := &redacted{text: shown(err.Error())}
	if errors.As(err, &out.of) {
		e := *out.of
		e.Text, e.Do, e.Err = shown(e.Text), shown(e.Do), nil
		out.of = &e
	}
	return out
}

// redacted is an error without a secret: what kind of error it is, and its code, stay.
type redacted struct {
	text string
	of   *Error // nil: it is of no database
}

func (r *redacted) Error() string { return r.text }

func (r *redacted) Unwrap() error {
	if r.of == nil {
		return nil
	}
	return r.of
}

// Format hides it from every verb: for one that does not fit a text, such as %d, fmt would not ask String.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }
