// Package record keeps what AWS was asked and what it answered, sanitised, so that a stand-in for AWS can be held to it.
//
// A folder has a file for each request. What says who or where somebody is has been replaced before it is written, the same value by the
// same stand-in, so that an answer still says that this is the replica of that. A field that is on no list is masked.
package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Variable is the environment variable that names the folder into which every Plimsoll records; unset: none does.
const Variable = "PLIMSOLL_RECORD"

// Doer sends a request, as *http.Client does.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Client records what it sends, and what is answered. It is safe for concurrent use, as far as its Next is.
type Client struct {
	Folder *Folder
	Next   Doer
	// Call tells which service is asked for what. A service that is not among Services is asked and not recorded: what hands out
	// credentials goes by the same client.
	Call func(context.Context) (service, action string)
}

// Services are those that are recorded, by the names that the SDK gives them.
var Services = []string{"RDS", "EC2", "CloudWatch", "PI", "Pricing"}

// Do sends a request. One that cannot be recorded is not sent: nothing is changed of which nothing could be read later.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	service, action := c.Call(r.Context())
	if !slices.Contains(Services, service) {
		return c.Next.Do(r)
	}
	asked, err := taken(&r.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request %s: %w", action, err)
	}
	call := Call{Service: service, Action: action}
	c.Folder.request(&call, asked)
	file, err := c.Folder.reserve(call)
	if err != nil {
		return nil, fmt.Errorf("record the request %s: %w", action, err)
	}
	answer, err := c.Next.Do(r)
	if err != nil {
		return answer, err // the file says that nothing was answered
	}
	body, err := taken(&answer.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", action, err)
	}
	call.Status = answer.StatusCode
	c.Folder.answer(&call, answer.Header, body)
	// What AWS did is done: the answer is given all the same. The next request is not sent where a full disk keeps it from being recorded,
	// and a file without its answer says so to whoever reads it.
	_ = c.Folder.complete(file, call)
	return answer, nil
}

// taken reads a body and puts another like it in its place.
func taken(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	all, err := io.ReadAll(*body)
	err = errors.Join(err, (*body).Close())
	*body = io.NopCloser(bytes.NewReader(all))
	return all, err
}

// request sanitises what is asked: the parameters of a form, or a text in JSON.
func (f *Folder) request(c *Call, body []byte) {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		c.Request = f.names.body(body)
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		c.Request = masked
		return
	}
	c.Parameters = map[string]string{}
	for name, values := range form {
		if name != "Action" {
			c.Parameters[f.names.key(name, parameter)] = f.names.value(fieldOf(strings.Split(name, ".")), strings.Join(values, " "))
		}
	}
}

// headers are those that say how an answer is to be read, each with the form of what is kept.
var headers = map[string]*regexp.Regexp{"Content-Type": mime, "X-Amzn-Errortype": errorCode, "Retry-After": count}

func (f *Folder) answer(c *Call, head http.Header, body []byte) {
	for name, form := range headers {
		text, _, _ := strings.Cut(head.Get(name), ":") // Code:http://…
		if !form.MatchString(text) || telling(text) {
			continue
		}
		if c.Headers == nil {
			c.Headers = map[string]string{}
		}
		c.Headers[name] = text
	}
	c.Body = f.names.body(body)
}
