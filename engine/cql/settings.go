package cql

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

var _ engine.Configurable = (*database)(nil)

// Setting reads one of cassandra.yaml's settings by its name there, or a system property by its name with cassandra. in
// front, from the first node.
func (d *database) Setting(ctx context.Context, name string) (string, error) {
	table := "settings"
	if propertyName.MatchString(name) {
		table = "system_properties"
	}
	var known []string
	var value string
	found, parted := false, false
	err := d.control.use(ctx, anyNode, func(s *gocql.Session) error {
		rows := s.Query("SELECT name, value FROM system_views." + table).IterContext(ctx)
		var one, its string
		for rows.Scan(&one, &its) {
			if one == name {
				found, value = true, its
			}
			parted = parted || strings.HasPrefix(one, name+".")
			known = append(known, one)
		}
		return rows.Close()
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("read the setting %s: %w", name, err)
	case found:
		return value, nil
	case parted || ofStart(name) || propertyName.MatchString(name):
		return "", &engine.Unshown{Setting: name}
	}
	text := "this server has no setting " + name
	if near := document.Nearest(name, known); near != "" {
		text += ", but " + near + "; did you mean that?"
	}
	return "", &engine.Error{Kind: engine.Missing, Text: text}
}

// Change says that it takes a restart: the protocol can change no setting.
func (d *database) Change(ctx context.Context, name, _ string) error {
	_, err := d.Setting(ctx, name)
	if engine.ClassOf(err) == engine.Missing {
		return err
	}
	return &engine.NeedsRestart{Setting: name}
}

// NeedsRestart is true of every setting that there is.
func (d *database) NeedsRestart(ctx context.Context, name string) (needs, known bool, err error) {
	_, err = d.Setting(ctx, name)
	var unshown *engine.Unshown
	if errors.As(err, &unshown) {
		err = nil
	}
	return true, true, err
}

// SameValue compares as Cassandra would: 10s and 10000ms, 128MiB and 131072KiB are the same.
func (d *database) SameValue(_, wrote, shown string) bool { return sameValue(wrote, shown) }

func sameValue(wrote, shown string) bool {
	wrote, shown = unquoted(wrote), unquoted(shown)
	if strings.EqualFold(wrote, shown) {
		return true
	}
	a, dimension, ok := quantity(wrote)
	b, other, also := quantity(shown)
	if ok && also && dimension == other {
		return a.Cmp(b) == 0
	}
	if wrote, shown = strings.TrimPrefix(wrote, "+"), strings.TrimPrefix(shown, "+"); shown != "" {
		x, err := strconv.ParseFloat(wrote, 64)
		y, otherErr := strconv.ParseFloat(shown, 64)
		if err == nil && otherErr == nil {
			return x == y
		}
	}
	return false
}

func unquoted(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// units are those of Cassandra's configuration, in nanoseconds, bytes and bytes per second.
var units = map[string]struct {
	factor    int64
	dimension string
}{
	"ns": {1, "time"}, "us": {1e3, "time"}, "µs": {1e3, "time"}, "ms": {1e6, "time"}, "s": {1e9, "time"},
	"m": {60e9, "time"}, "h": {3600e9, "time"}, "d": {86400e9, "time"},
	"B": {1, "size"}, "KiB": {1 << 10, "size"}, "MiB": {1 << 20, "size"}, "GiB": {1 << 30, "size"},
	"B/s": {1, "rate"}, "KiB/s": {1 << 10, "rate"}, "MiB/s": {1 << 20, "rate"}, "GiB/s": {1 << 30, "rate"},
}

var withUnit = regexp.MustCompile(`^(\d{1,18})\s*([A-Za-zµ]+(?:/s)?)$`)

// quantity reads a number with a unit.
func quantity(text string) (*big.Int, string, bool) {
	found := withUnit.FindStringSubmatch(text)
	if found == nil {
		return nil, "", false
	}
	unit, ok := units[found[2]]
	if !ok {
		return nil, "", false
	}
	n, _ := new(big.Int).SetString(found[1], 10) // digits alone
	return n.Mul(n, big.NewInt(unit.factor)), unit.dimension, true
}
