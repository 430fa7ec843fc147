package settings

import (
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/document"
	"plimsoll/watch/store"
)

// Span is a time, of days too: 15d, 4h.
type Span time.Duration

// UnmarshalDocument implements document.Unmarshaler.
func (s *Span) UnmarshalDocument(n *document.Node) error {
	d, err := store.Duration(n.Text)
	if n.Kind != document.Scalar || err != nil {
		return n.Errorf("%s, expected a time such as 90s, 4h or 15d", n.Said())
	}
	*s = Span(d)
	return nil
}

// Size is bytes: 500MiB, 20GiB.
type Size int64

// UnmarshalDocument implements document.Unmarshaler.
func (s *Size) UnmarshalDocument(n *document.Node) error {
	for suffix, factor := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if number, ok := strings.CutSuffix(n.Text, suffix); ok && n.Kind == document.Scalar {
			if v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32); err == nil && v > 0 {
				*s = Size(v * factor)
				return nil
			}
		}
	}
	return n.Errorf("%s, expected a size such as 500MiB or 20GiB", n.Said())
}
