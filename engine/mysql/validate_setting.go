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
	"plimsoll/engine/secret"
)

// described is what a server says of one of its variables.
type described struct {
	kind     string // INT UNSIGNED, ENUM, BOOLEAN, Integer, Numeric and the like
	min, max string
	block    string // a number is a multiple of it, or is rounded down to one
	values   string // of an enum or a set, with commas
	readOnly string // YES, NO; "" where the server does not tell
}

// judgement is what is known of a value before a variable gets it.
type judgement struct {
	why     string // it cannot be; "": it may be
	becomes string // what the server rounds it to; "": nothing else, or it is not known
}

// WhyInvalid judges a value by what the server says of its variable: MariaDB in information_schema.SYSTEM_VARIABLES, MySQL from 9.0 on
// in performance_schema.variables_metadata; and by setting it in a session of its own, where sessions have the variable.
func (c *control) WhyInvalid(ctx context.Context, name, value string) (string, error) {
	if _, err := c.Setting(ctx, name); engine.ClassOf(err) == engine.Missing {
		return err.Error(), nil
	} else if err != nil {
		return "", err
	}
	is, err := c.judge(ctx, name, value)
	return is.why, err
}

// Becomes is what the server rounds a value to that a person wrote.
func (c *control) Becomes(ctx context.Context, name, value string) (string, error) {
	is, err := c.judge(ctx, name, value)
	return is.becomes, err
}

func (c *control) judge(ctx context.Context, name, value string) (judgement, error) {
	variable := variableName(name)
	says, err := c.describe(ctx, name)
	if err != nil {
		return judgement{}, err
	}
	takes, told := says.misfit(value)
	if takes != "" {
		return judgement{why: fmt.Sprintf("%s cannot be %s: valid is %s", variable, written(variable, value), takes)}, nil
	}
	is := judgement{becomes: says.rounds(value)}
	if is.becomes == "" && !told {
		if is, err = c.tryInSession(ctx, variable, value); err != nil {
			return is, err
		}
	}
	if is.becomes != "" && !Near(variable, value, is.becomes) && !says.hasBlocks(value) {
		is.why = fmt.Sprintf("%s cannot be %s: the server would make it %s", variable, written(variable, value), written(variable, is.becomes))
	}
	return is, nil
}

// written is how a value stands in a message: one that may be a secret does not.
func written(variable, value string) string {
	switch {
	case strings.TrimSpace(value) == "":
		return "empty"
	case secret.Of(variable, value):
		return "a value that is not shown"
	}
	return value
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
		rows, err := s.table(ctx, "SELECT VARIABLE_TYPE AS kind, NUMERIC_MIN_VALUE AS least, NUMERIC_MAX_VALUE AS most, NUMERIC_BLOCK_SIZE AS block, "+
			"ENUM_VALUE_LIST AS vals, READ_ONLY AS fixed FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = "+wanted)
		if engine.ClassOf(err) == engine.Missing { // MySQL
			rows, err = s.table(ctx, "SELECT DATA_TYPE AS kind, MIN_VALUE AS least, MAX_VALUE AS most FROM performance_schema.variables_metadata WHERE VARIABLE_NAME = "+wanted)
		}
		if class := engine.ClassOf(err); class == engine.Missing || class == engine.Denied {
			return nil // it does not tell
		}
		if err == nil && len(rows) == 1 {
			r := rows[0]
			is = described{kind: strings.ToUpper(r["kind"]), min: r["least"], max: r["most"], block: r["block"], values: r["vals"], readOnly: r["fixed"]}
		}
		return err
	})
	if err != nil {
		return is, fmt.Errorf("read the valid values of the variable %s: %w", name, err)
	}
	return is, nil
}

// misfit says what a variable takes, if a value is nothing of the kind; "" if it may be. told: what the server says of it was enough to tell.
func (d described) misfit(value string) (takes string, told bool) {
	value = strings.TrimSpace(value)
	switch {
	case d.kind == "BOOLEAN":
		if !IsSwitch(value) && value != "" {
			return "ON or OFF", true
		}
		return "", true
	case d.kind == "ENUM" && d.values != "":
		values := strings.Split(d.values, ",")
		is := func(one string) bool { return strings.EqualFold(one, value) }
		if n, err := strconv.Atoi(value); (err != nil || n < 0 || n >= len(values)) && !slices.ContainsFunc(values, is) && !isSwitch(value, values) {
			return "one of " + strings.Join(values, ", "), true
		}
		return "", true
	case d.kind == "SET" && d.values != "":
		if _, err := strconv.ParseUint(value, 10, 64); err != nil && !d.lists(elements(value)) {
			return "a list of " + strings.ReplaceAll(d.values, ",", ", "), true
		}
		return "", true
	case d.whole():
		if n, is := wholeNumber(value); !is || !d.holds(new(big.Float).SetInt(n)) {
			return "a whole number" + d.bounds() + d.orSize(), true
		}
		return "", d.block != "" // else whether it is rounded is not known
	case d.kind == "DOUBLE" || d.kind == "NUMERIC":
		f, _, err := big.ParseFloat(value, 10, 64, big.ToNearestEven)
		if err != nil || !d.holds(f) {
			return "a number" + d.bounds(), true
		}
		return "", true
	}
	return "", false
}

// whole tells whether the variable is a whole number: INTEGER, BIGINT UNSIGNED.
func (d described) whole() bool { return strings.Contains(d.kind, "INT") }

func wholeNumber(value string) (*big.Int, bool) {
	if n, is := admin.Size(value); is {
		return big.NewInt(n), true
	}
	n, err := strconv.ParseUint(value, 10, 64)
	return new(big.Int).SetUint64(n), err == nil
}

// lists tells whether a set has all of these.
func (d described) lists(wanted []string) bool {
	known := elements(d.values)
	return !slices.ContainsFunc(wanted, func(one string) bool { return !slices.Contains(known, one) })
}

// rounds is what is left of a whole number in whole blocks; "" where that is all of it.
func (d described) rounds(value string) string {
	block, err := strconv.ParseInt(d.block, 10, 64)
	n, is := wholeNumber(strings.TrimSpace(value))
	if err != nil || block < 2 || !is || !d.whole() || n.Sign() < 0 {
		return ""
	}
	over := new(big.Int).Mod(n, big.NewInt(block))
	if over.Sign() == 0 {
		return ""
	}
	return n.Sub(n, over).String()
}

// hasBlocks tells whether a whole number has two blocks at least, so that what is over is the smaller part of it.
func (d described) hasBlocks(value string) bool {
	block, err := strconv.ParseInt(d.block, 10, 64)
	n, is := wholeNumber(strings.TrimSpace(value))
	return err == nil && is && n.Cmp(big.NewInt(2*block)) >= 0
}

// IsSwitch tells whether servers know a word for on or off. They do not know yes and no: an option file's yes turns a variable off.
func IsSwitch(word string) bool {
	_, is := boolean(word)
	return is && !strings.EqualFold(word, "yes") && !strings.EqualFold(word, "no")
}

// isSwitch tells whether an enum that can be off and on is given another word for one of them.
func isSwitch(value string, values []string) bool {
	if !IsSwitch(value) {
		return false
	}
	on, _ := boolean(value)
	return slices.ContainsFunc(values, func(v string) bool { other, is := boolean(v); return is && other == on })
}

// orSize says how else a variable's number may be written that can be large: as a size, without a space.
func (d described) orSize() string {
	if most, is := wholeNumber(d.max); !is || most.Cmp(big.NewInt(1<<24)) < 0 {
		return ""
	}
	return ", or a size such as 128M"
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
