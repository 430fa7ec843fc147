package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// worthwhile is the size from which on an answer is sent compressed.
const worthwhile = 1400

var squeezers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

// compressed is a text as it is sent to a reader who takes it so, which is said in the header; small ones and those of others stay.
// A stranger cannot have a page made for somebody, because the cookie of who has entered comes with no request from another site
// (access.Gate): so the length of what is sent tells nothing.
func compressed(w http.ResponseWriter, r *http.Request, text []byte) []byte {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(text) < worthwhile || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return text
	}
	var b bytes.Buffer
	z := squeezers.Get().(*gzip.Writer)
	defer squeezers.Put(z)
	z.Reset(&b)
	if _, err := z.Write(text); err != nil || z.Close() != nil { // a buffer takes all
		return text
	}
	w.Header().Set("Content-Encoding", "gzip")
	return b.Bytes()
}
