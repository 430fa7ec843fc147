// Package words holds what the page says, in each language. Commands, metrics, SQL and names stay as they are.
package words

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/document"
)

//go:embed *.yaml
var files embed.FS

// Language is one of Languages.
type Language string

// The languages.
const (
	English Language = "en"
	Korean  Language = "ko"
)

// Languages are those the page speaks, the first where nothing else is asked for.
var Languages = []Language{English, Korean}

// Names are what each language calls itself.
var Names = map[Language]string{English: "English", Korean: "한국어"}

// Book is what the page says in one language, by key: page.sentence.
type Book map[string]string

// Read reads the book of a language.
func Read(l Language) (Book, error) {
	name := string(l) + ".yaml"
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the words: %w", err)
	}
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	b := Book{}
	for _, page := range root.Entries {
		for _, e := range page.Value.Entries {
			b[page.Key+"."+e.Key] = e.Value.Text
		}
	}
	return b, nil
}

// Say is what stands under a key, with values in its places {0}, {1} and so on. A key that is not there is shown as it is, so that it
// is seen.
func (b Book) Say(key string, values ...any) string {
	text, known := b[key]
	if !known {
		return "⟦" + key + "⟧"
	}
	for i, v := range values {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), fmt.Sprint(v))
	}
	return text
}

// Of is what stands under a key of a page that may not have it, such as the word of a state: then the word itself.
func (b Book) Of(page, word string) string {
	if text, known := b[page+"."+word]; known {
		return text
	}
	return word
}

// Choose is the language that a person chose, else the first of those that their browser asks for.
func Choose(chosen, accepted string) Language {
	if l := Language(chosen); slices.Contains(Languages, l) {
		return l
	}
	for part := range strings.SplitSeq(accepted, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		base, _, _ := strings.Cut(tag, "-")
		if l := Language(strings.ToLower(base)); slices.Contains(Languages, l) {
			return l
		}
	}
	return Languages[0]
}
