package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/document"
)

var _ engine.SettingsChecker = Servers{}

// CheckSettings has the server's own program read them, by --help, which starts nothing; MySQL tells of unknown names only when it
// validates a configuration. What it would run with stands in the table that its help ends with. A setting stands once on each command line:
// of several values the table would show the last alone.
func (Servers) CheckSettings(ctx context.Context, m infra.Machine, nodes ...engine.Node) ([]engine.Rounded, error) {
	var n engine.Node
	var lines []map[string]string
	var all settings
	for _, n = range nodes {
		var err error
		if all, err = settingsOf(n); err != nil {
			return nil, &engine.RefusedSetting{Err: err}
		}
		for name, value := range n.Config {
			key := admin.VariableName(name)
			if key == "log_bin" || key == "skip_log_bin" { // which the lab translates
				continue
			}
			lines = spread(lines, key, value)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, nil)
	}
	args := []string{"--no-defaults"}
	for _, name := range []string{"basedir", "lc_messages_dir", "character_sets_dir", "plugin_dir"} {
		if at := all[name]; at != "" {
			args = append(args, "--"+name+"="+at)
		}
	}
	if n.Dist.Product == mysqlProduct {
		args = append(args, "--secure-file-priv=", "--user=root") // else it looks for folders of an installed one; --user is heard as root alone
	}
	args = append(args, "--max-connections="+all["max_connections"]) // which is the lab's own where none is given: files and caches follow it
	var rounded []engine.Rounded
	for _, own := range lines {
		args := slices.Clone(args)
		for _, key := range slices.Sorted(maps.Keys(own)) {
			args = append(args, "--"+key+"="+own[key])
		}
		shown, err := read(ctx, m, n, append(slices.Clone(args), "--verbose", "--help"))
		if err != nil {
			return rounded, err
		}
		if n.Dist.Product == mysqlProduct && !strings.HasPrefix(n.Dist.Exact, "5.") {
			if _, err := read(ctx, m, n, append(args, "--validate-config")); err != nil {
				return rounded, err
			}
		}
		changed, err := misunderstood(own, shown)
		if err != nil {
			return rounded, &engine.RefusedSetting{Err: err}
		}
		rounded = append(rounded, changed...)
	}
	return rounded, nil
}

// spread puts a setting into the first of some command lines that has none of its name, or has it with this value.
func spread(lines []map[string]string, key, value string) []map[string]string {
	for _, line := range lines {
		if other, has := line[key]; !has || other == value {
			line[key] = value
			return lines
		}
	}
	return append(lines, map[string]string{key: value})
}

// read runs a server's program for what it says of its options, and returns the values that it would run with. It refuses what the program
// does not take.
func read(ctx context.Context, m infra.Machine, n engine.Node, args []string) (map[string]string, error) {
	out, err := m.Run(ctx, infra.Command{Path: n.Dist.Paths[serverPath], Args: args})
	said := string(out.Stderr)
	var exit *infra.ExitError
	switch {
	case errors.As(err, &exit):
		said += exit.Stderr
	case err != nil:
		return nil, fmt.Errorf("let %s check the settings: %w", n.Dist.Product, err)
	}
	if found := unknown.FindStringSubmatch(said); found != nil {
		names := variableNames(ctx, m, n.Dist)
		return nil, &engine.RefusedSetting{Err: noVariable(found[1], names), Near: document.Nearest(admin.VariableName(found[1]), names)}
	}
	for _, c := range complaints[:ofValues] {
		if at := c.pattern.FindStringSubmatchIndex(said); at != nil {
			return nil, &engine.RefusedSetting{Err: hint.With(errors.New(string(c.pattern.ExpandString(nil, c.say, said, at))), c.hint)}
		}
	}
	return tableOf(string(out.Stdout)), nil
}

// ofValues is how many of the complaints, the first, are of what a setting was given.
const ofValues = 4

// perFile are settings that a server lowers where it may not have that many files open; open_files_limit it raises, too, to what the others need.
var perFile = []string{"innodb_open_files", "max_connections", "open_files_limit", "table_definition_cache", "table_open_cache"}

// ofFiles is why a server chooses one of them.
const ofFiles = "it follows the number of files that a process may have open (ulimit -n) and max_connections"

var aNumber = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// misunderstood refuses the first setting, by name, of which a program makes something else without an error: it reads true as 0 where it
// expects a size (0 T), turns off a switch that it does not understand, yes among them, and takes the nearest of a number that is out of bounds.
// With 0 and -1 people leave many settings to the server; what it chooses for 0 is told.
func misunderstood(own, shown map[string]string) (rounded []engine.Rounded, err error) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		key, wrote := strings.TrimPrefix(name, "loose_"), strings.TrimSpace(own[name])
		is, told := shown[key]
		switch {
		case !told || wrote == "-1": // which is the server's own choice of many
		case is == "TRUE" || is == "FALSE":
			if err := misread(key, wrote, is == "TRUE"); err != nil {
				return rounded, err
			}
		case !aNumber.MatchString(is):
		case !isNumber(wrote):
			return rounded, hint.With(fmt.Errorf("%s cannot be %s: valid is a number, and the server would make it %s", key, orNothing(wrote), is), "sizes are written like 512M or 4G")
		case slices.Contains(perFile, key):
			if n := plain(wrote); n != "0" && n != plain(is) {
				rounded = append(rounded, engine.Rounded{Setting: key, Wrote: wrote, Becomes: is, Because: ofFiles})
			}
		case plain(wrote) == "0" && plain(is) != "0":
			rounded = append(rounded, engine.Rounded{Setting: key, Wrote: wrote, Becomes: is, Because: "it does not take 0, or chooses a value itself"})
		case !mysql.Near(key, wrote, is):
			return rounded, fmt.Errorf("%s cannot be %s: the server would make it %s", key, wrote, is)
		case plain(wrote) != plain(is):
			rounded = append(rounded, engine.Rounded{Setting: key, Wrote: wrote, Becomes: is})
		}
	}
	return rounded, nil
}

// misread refuses a word for a switch that the program does not know, unless what it makes of it is what was meant: no is off.
func misread(key, wrote string, is bool) error {
	said := map[bool]string{true: "ON", false: "OFF"}
	on, off := admin.IsOn(wrote), admin.IsOff(wrote)
	switch {
	case wrote == "" || mysql.IsSwitch(wrote) || on && is || off && !is:
		return nil
	case on || off:
		return hint.With(fmt.Errorf("%s cannot be %s: valid is ON or OFF, and the server would make it %s", key, wrote, said[is]), "write "+said[on])
	}
	return fmt.Errorf("%s cannot be %s: valid is ON or OFF, and the server would make it %s", key, wrote, said[is])
}

func isNumber(s string) bool {
	if _, is := admin.Size(s); is {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// plain is a number without its unit or its zeros.
func plain(s string) string {
	if n, is := admin.Size(s); is {
		return strconv.FormatInt(n, 10)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return s
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}
