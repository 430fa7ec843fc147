package mysql

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// described is what a server says of one of its variables.
type described struct {
	kind     string // INT UNSIGNED, ENUM, BOOLEAN, Integer, Numeric and the like
	min, max string
	values   string // of an enum, with commas
	readOnly string // YES, NO; "" where the server does not tell
}

// WhyInvalid judges a value by what the server says of its variable: MariaDB in information_schema.SYSTEM_VARIABLES, MySQL from 9.0 on
// in performance_schema.variables_metadata. Of an older MySQL only the name is judged.
func (c *control) WhyInvalid(ctx context.Context, name, value string) (string, error) {
	if _, err := c.Setting(ctx, name); engine.ClassOf(err) == engine.Missing {
		return err.Error(), nil
	} else if err != nil {
		return "", err
	}
	is, err := c.describe(ctx, name)
	if err != nil {
		return "", err
	}
	if takes := is.misfit(value); takes != "" {
		return fmt.Sprintf("%s cannot be %s: valid is %s", variableName(name), value, takes), nil
	}
	return "", nil
}

// NeedsRestart tells of MariaDB's variables. MySQL says it only when one is set.
func (c *control) NeedsRestart(ctx context.Context, name string) (needs, known bool, err error) {
	is, err := c.describe(ctx, name)
	return is.readOnly == "YES", is.readOnly != "", err
}

func (c *control) describe(ctx context.Context, name string) (described, error) {
	wanted := admin.Text(variableName(name))
	var is described
	err := c.use(ctx, func(s *session) error {
		rows, err := s.table(ctx, "SELECT VARIABLE_TYPE AS kind, NUMERIC_MIN_VALUE AS least, NUMERIC_MAX_VALUE AS most, ENUM_VALUE_LIST AS vals, READ_ONLY AS fixed "+
			"FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = "+wanted)
		if engine.ClassOf(err) == engine.Missing { // MySQL
			rows, err = s.table(ctx, "SELECT DATA_TYPE AS kind, MIN_VALUE AS least, MAX_VALUE AS most FROM performance_schema.variables_metadata WHERE VARIABLE_NAME = "+wanted)
		}
		if class := engine.ClassOf(err); class == engine.Missing || class == engine.Denied {
			return nil // it does not tell
		}
		if err == nil && len(rows) == 1 {
			is = described{kind: rows[0]["kind"], min: rows[0]["least"], max: rows[0]["most"], values: rows[0]["vals"], readOnly: rows[0]["fixed"]}
		}
		return err
	})
	if err != nil {
		return is, fmt.Errorf("read the valid values of the variable %s: %w", name, err)
	}
	return is, nil
}

// misfit says what a variable takes, if a value is nothing of the kind; "" if it may be.
func (d described) misfit(value string) string {
	value = strings.TrimSpace(value)
	kind := strings.ToUpper(d.kind)
	switch {
	case kind == "BOOLEAN":
		if _, is := boolean(value); !is && value != "" {
			return "ON or OFF"
		}
	case kind == "ENUM" && d.values != "":
		values := strings.Split(d.values, ",")
		is := func(one string) bool { return strings.EqualFold(word(one), word(value)) }
		if _, err := strconv.Atoi(value); err != nil && !slices.ContainsFunc(values, is) && !isSwitch(value, values) {
			return "one of " + strings.Join(values, ", ")
		}
	case kind == "INTEGER" || strings.Contains(kind, "INT"):
		whole := new(big.Float)
		if n, is := admin.Size(value); is {
			whole.SetInt64(n)
		} else if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			whole.SetUint64(n)
		} else {
			return "a whole number" + d.bounds()
		}
		if !d.holds(whole) {
			return "a number" + d.bounds()
		}
	case kind == "DOUBLE" || kind == "NUMERIC":
		f, _, err := big.ParseFloat(value, 10, 64, big.ToNearestEven)
		if err != nil {
			return "a number" + d.bounds()
		}
		if !d.holds(f) {
			return "a number" + d.bounds()
		}
	}
	return ""
}

// isSwitch tells whether an enum that can be off and on is given another word for one of them.
func isSwitch(value string, values []string) bool {
	on, is := boolean(value)
	if !is {
		return false
	}
	return slices.ContainsFunc(values, func(v string) bool { other, is := boolean(v); return is && other == on })
}

func (d described) bounds() string {
	if d.min == "" || d.max == "" {
		return ""
	}
	return fmt.Sprintf(" from %s to %s", d.min, d.max)
}

func (d described) holds(f *big.Float) bool {
	for text, sign := range map[string]int{d.min: -1, d.max: 1} {
		if bound, _, err := big.ParseFloat(text, 10, 64, big.ToNearestEven); err == nil && text != "" && f.Cmp(bound) == sign {
			return false
		}
	}
	return true
}
