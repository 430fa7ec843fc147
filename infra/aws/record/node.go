package record

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Node is an element of an answer in XML, or a value of one in JSON, where the members of a list are called member.
type Node struct {
	Name  string
	Text  string // of one with nothing under it
	Under []*Node

	json byte // the first letter of a value in JSON: { [ " 0 t n; 0 for XML
}

// Parse reads an answer in XML or in JSON.
func Parse(body string) (*Node, error) {
	if text := strings.TrimSpace(body); strings.HasPrefix(text, "{") {
		return parseJSON(text)
	}
	return parseXML(body)
}

func parseXML(body string) (*Node, error) {
	d := xml.NewDecoder(strings.NewReader(body))
	top := &Node{}
	path := []*Node{top}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read an answer in XML: %w", err)
		}
		in := path[len(path)-1]
		switch t := token.(type) {
		case xml.StartElement:
			n := &Node{Name: t.Name.Local}
			in.Under, path = append(in.Under, n), append(path, n)
		case xml.EndElement:
			if in.Text = strings.TrimSpace(in.Text); len(in.Under) > 0 {
				in.Text = "" // the service's elements have either
			}
			path = path[:len(path)-1]
		case xml.CharData:
			in.Text += string(t)
		}
	}
	if len(top.Under) != 1 {
		return nil, errors.New("read an answer in XML: it is not one element")
	}
	return top.Under[0], nil
}

func parseJSON(body string) (*Node, error) {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	n, err := decode(d, "")
	if err == nil && d.More() {
		err = errors.New("something follows")
	}
	if err != nil {
		return nil, fmt.Errorf("read an answer in JSON: %w", err)
	}
	return n, nil
}

// decode reads one value, with its keys in their order.
func decode(d *json.Decoder, name string) (*Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	n := &Node{Name: name}
	switch t := token.(type) {
	case json.Delim:
		n.json = byte(t)
		for d.More() {
			name := "member"
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return nil, err
				}
				name, _ = key.(string)
			}
			under, err := decode(d, name)
			if err != nil {
				return nil, err
			}
			n.Under = append(n.Under, under)
		}
		_, err = d.Token()
		return n, err
	case string:
		n.json, n.Text = '"', t
	case json.Number:
		n.json, n.Text = '0', t.String()
	case bool:
		n.json, n.Text = 't', fmt.Sprint(t)
	default:
		n.json = 'n'
	}
	return n, nil
}

// body is an answer as it is written: its fields, and of their values what is kept. One that is neither XML nor JSON is masked as a whole.
func (s standIns) body(body []byte) string {
	if len(bytes.TrimSpace(body)) == 0 {
		return ""
	}
	n, err := Parse(string(body))
	if err != nil {
		return masked
	}
	s.clean(n, []string{n.Name})
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (s standIns) clean(n *Node, path []string) {
	name := form(element)
	if n.json != 0 {
		name = jsonName
	}
	n.Name = s.key(n.Name, name)
	for _, u := range n.Under {
		s.clean(u, append(path, u.Name))
	}
	switch {
	case n.json == '"' && strings.HasPrefix(n.Text, "{"): // an entry of the Price List is JSON in a text
		if inner, err := parseJSON(n.Text); err == nil {
			s.clean(inner, path)
			var b strings.Builder
			inner.write(&b)
			n.Text = b.String()
			return
		}
		n.Text = masked
	case n.json == '0' || n.json == 't':
		if n.Text = s.value(fieldOf(path), n.Text); !json.Valid([]byte(n.Text)) {
			n.Text = "0"
		}
	default:
		n.Text = s.value(fieldOf(path), n.Text)
	}
}

func (n *Node) write(b *strings.Builder) {
	text := func(v string) {
		quoted, _ := json.Marshal(v) // of a string it never fails
		b.Write(quoted)
	}
	between := func(open, shut string, each func(*Node)) {
		b.WriteString(open)
		for i, u := range n.Under {
			if i > 0 {
				b.WriteByte(',')
			}
			each(u)
		}
		b.WriteString(shut)
	}
	switch n.json {
	case '{':
		between("{", "}", func(u *Node) {
			text(u.Name)
			b.WriteByte(':')
			u.write(b)
		})
	case '[':
		between("[", "]", func(u *Node) { u.write(b) })
	case '"':
		text(n.Text)
	case 'n':
		b.WriteString("null")
	case '0', 't':
		b.WriteString(n.Text)
	default:
		b.WriteString("<" + n.Name + ">")
		_ = xml.EscapeText(b, []byte(n.Text)) // a Builder takes all
		for _, u := range n.Under {
			u.write(b)
		}
		b.WriteString("</" + n.Name + ">")
	}
}

// All calls a function for every node of a name, however deep.
func (n *Node) All(name string, found func(*Node)) {
	if n.Name == name {
		found(n)
	}
	for _, u := range n.Under {
		u.All(name, found)
	}
}

// Of is the text of what stands under a node, one name after another; "" where it is not there.
func (n *Node) Of(names ...string) string {
	for _, name := range names {
		var next *Node
		for _, u := range n.Under {
			if u.Name == name {
				next = u
				break
			}
		}
		if next == nil {
			return ""
		}
		n = next
	}
	return n.Text
}

// Code is the code of an error; "" for an answer that is none.
func (n *Node) Code() (code string) {
	if n.Name == "ErrorResponse" || n.Name == "Response" {
		n.All("Error", func(e *Node) { code = e.Of("Code") })
	}
	if n.json == '{' {
		code = n.Of("__type")
	}
	return code
}
