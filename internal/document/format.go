package document

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Format writes n as a YAML document that Parse reads back to the same values.
func (n *Node) Format() []byte {
	var b bytes.Buffer
	if n.Kind == Mapping || n.Kind == Sequence {
		n.block(&b, 0)
	} else {
		b.WriteString(n.inline() + "\n")
	}
	return b.Bytes()
}

func (n *Node) block(b *bytes.Buffer, depth int) {
	pad := strings.Repeat("  ", depth)
	for _, e := range n.Entries {
		key := (&Node{Kind: Scalar, Text: e.Key}).inline()
		if e.Value.flat() {
			fmt.Fprintf(b, "%s%s: %s\n", pad, key, e.Value.inline())
			continue
		}
		fmt.Fprintf(b, "%s%s:\n", pad, key)
		e.Value.block(b, depth+1)
	}
	for _, item := range n.Items {
		if item.flat() {
			fmt.Fprintf(b, "%s- %s\n", pad, item.inline())
			continue
		}
		var inner bytes.Buffer
		item.block(&inner, depth+1)
		fmt.Fprintf(b, "%s- %s", pad, strings.TrimPrefix(inner.String(), pad+"  "))
	}
}

// flat tells whether n reads well on one line.
func (n *Node) flat() bool {
	switch n.Kind {
	case Sequence:
		for _, item := range n.Items {
			if item.Kind > Scalar || len(item.Text) > 40 {
				return false
			}
		}
		return len(n.Items) <= 12
	case Mapping:
		return len(n.Entries) == 0
	}
	return true
}

func (n *Node) inline() string {
	switch n.Kind {
	case Nothing:
		return "null"
	case Mapping:
		return "{}"
	case Sequence:
		items := make([]string, len(n.Items))
		for i, item := range n.Items {
			items[i] = item.inline()
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	if n.Quoted && plainKind(n.Text) || !bare.MatchString(n.Text) || n.Text == "null" {
		return strconv.Quote(n.Text)
	}
	return n.Text
}

// bare is what needs no quotes, in a flow list too.
var bare = regexp.MustCompile(`^[\p{L}\p{N}_./<>(%+][\p{L}\p{N}_./ <>()%+=*?;-]*$`)

// plainKind tells whether a text without quotes would be read as something else than a text.
func plainKind(s string) bool {
	_, isText := (&Node{Kind: Scalar, Text: s}).Plain().(string)
	return !isText
}
