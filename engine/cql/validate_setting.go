package cql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
)

// WhyInvalid judges a setting by its name, by what a lab makes itself, and by the kind of value that the server shows of it now.
func (d *database) WhyInvalid(ctx context.Context, name, value string) (string, error) {
	if why := unmade(name, value); why != "" {
		return why, nil
	}
	shown, err := d.Setting(ctx, name)
	var unshown *engine.Unshown
	switch {
	case errors.As(err, &unshown):
		return "", nil
	case engine.ClassOf(err) == engine.Missing:
		return err.Error(), nil
	case err != nil:
		return "", err
	}
	if wants := misfit(value, shown); wants != "" {
		return fmt.Sprintf("setting %s cannot be %s: it is %s now, and takes %s", name, value, shown, wants), nil
	}
	return "", nil
}

// Becomes tells nothing: Cassandra refuses what it would not use.
func (d *database) Becomes(context.Context, string, string) (string, error) { return "", nil }

// unmade says why no lab would give a server a setting; "" if it would.
func unmade(name, value string) string {
	if _, err := settingsOf(engine.Node{Config: map[string]string{name: value}}); err != nil {
		return err.Error()
	}
	return ""
}

var (
	wholeNumber = regexp.MustCompile(`^-?\d+$`)
	number      = regexp.MustCompile(`^-?\d+\.\d+(E-?\d+)?$`) // as Java shows one
	truths      = []string{"true", "false", "yes", "no", "on", "off"}
)

// misfit says what a setting of which this is shown takes, if a value is nothing of the kind; "" if it may be. Some that are shown as a
// number take a time too (key_cache_save_period: 4h is shown as 14400), and null is what many are when they are not set.
func misfit(wrote, shown string) string {
	wrote, shown = unquoted(wrote), unquoted(shown)
	_, dimension, measured := quantity(wrote)
	_, wants, measures := quantity(shown)
	switch {
	case wrote == "null" || wrote == "~":
	case shown == "true" || shown == "false":
		if !slices.Contains(truths, strings.ToLower(wrote)) {
			return "true or false"
		}
	case wholeNumber.MatchString(shown):
		if _, err := strconv.ParseInt(strings.ReplaceAll(wrote, "_", ""), 0, 64); err != nil && !measured {
			return "a whole number"
		}
	case number.MatchString(shown):
		if _, err := strconv.ParseFloat(wrote, 64); err != nil {
			return "a number"
		}
	case measures && (!measured || dimension != wants):
		return fmt.Sprintf("a %s with its unit", wants)
	}
	return ""
}
