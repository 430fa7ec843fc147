package awstest

import (
	"encoding/xml"
	"net/url"
	"strconv"
	"strings"
)

// el is an XML element; "" for an empty text.
func el(name, text string) string {
	if text == "" {
		return ""
	}
	return "<" + name + ">" + escaped(text) + "</" + name + ">"
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}

func elNumber(name string, n int) string {
	if n == 0 {
		return ""
	}
	return el(name, strconv.Itoa(n))
}

func tagsXML(tags map[string]string) string {
	var all string
	for key, value := range tags {
		all += "<Tag>" + el("Key", key) + el("Value", value) + "</Tag>"
	}
	return "<TagList>" + all + "</TagList>"
}

// tagsIn are the tags of a request.
func tagsIn(q url.Values) map[string]string {
	tags := map[string]string{}
	for i := 1; ; i++ {
		at := "Tags.Tag." + strconv.Itoa(i)
		if !q.Has(at + ".Key") {
			return tags
		}
		tags[q.Get(at+".Key")] = q.Get(at + ".Value")
	}
}

func numberIn(q url.Values, name string) int {
	n, _ := strconv.Atoi(q.Get(name))
	return n
}
