package web

import (
	"net/http"
	"strings"

	"plimsoll/report/chart"
	"plimsoll/web/words"
)

// Names of the lines of an alert's curve, which stand in words under legend.
const (
	valueLine = "value"
	limitLine = "limit"
)

// label gives the lines of charts their words in the reader's language. Their names stay as they are: programs that read the page as JSON,
// and the style of each wait, go by these.
func label(book words.Book, charts ...chart.Chart) {
	for _, c := range charts {
		for i := range c.Lines {
			c.Lines[i].Label = labelOf(book, c.Title, c.Lines[i].Name)
		}
	}
}

// labelOf is what a line is called; "" for one whose name is nobody's word, such as a replication channel's.
func labelOf(book words.Book, title, name string) string {
	var text string
	switch limit, is := strings.CutPrefix(name, limitLine+" "); {
	case is:
		text = book.Say("legend."+limitLine, limit)
	case title == "aas":
		text = book.Of("wait", name)
	case title == "commit":
		text = book.Of("commit", name)
	case name == title || name == valueLine:
		text = book.Of("legend", name)
	}
	if text == name {
		return ""
	}
	return text
}

// speak is the language of who asks, and the words in it.
func (s *Server) speak(r *http.Request) (words.Language, words.Book) {
	l := words.Choose(chosen(r, languageCookie), r.Header.Get("Accept-Language"))
	return l, s.screens[l].book
}
