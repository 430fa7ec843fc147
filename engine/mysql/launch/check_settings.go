package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/infra"
)

var _ engine.SettingsChecker = Servers{}

// CheckSettings has the server's own program read them, by --help, which starts nothing; MySQL tells of unknown names only when it
// validates a configuration. A program reads a setting as often as it stands on its command line: those of all nodes stand there, once
// for each value.
func (Servers) CheckSettings(ctx context.Context, m infra.Machine, nodes ...engine.Node) error {
	var n engine.Node
	var own []string
	var all settings
	for _, n = range nodes {
		var err error
		if all, err = settingsOf(n); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(n.Config)) {
			key := admin.VariableName(name)
			arg := "--" + key + "=" + n.Config[name]
			if key != "log_bin" && key != "skip_log_bin" && !slices.Contains(own, arg) { // which the lab translates
				own = append(own, arg)
			}
		}
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
	args = append(args, own...)
	ways := [][]string{{"--verbose", "--help"}}
	if n.Dist.Product == mysqlProduct && !strings.HasPrefix(n.Dist.Exact, "5.") {
		ways = append(ways, []string{"--validate-config"})
	}
	for _, way := range ways {
		if err := misread(ctx, m, n, append(slices.Clone(args), way...)); err != nil {
			return err
		}
	}
	return nil
}

// misread runs a server's program for what it says of its options; nil where it takes them all.
func misread(ctx context.Context, m infra.Machine, n engine.Node, args []string) error {
	out, err := m.Run(ctx, infra.Command{Path: n.Dist.Paths[serverPath], Args: args})
	said := string(out.Stderr)
	var exit *infra.ExitError
	switch {
	case errors.As(err, &exit):
		said += exit.Stderr
	case err != nil:
		return fmt.Errorf("let %s check the settings: %w", n.Dist.Product, err)
	}
	if found := unknown.FindStringSubmatch(said); found != nil {
		return noVariable(found[1], variables(ctx, m, n.Dist))
	}
	for _, c := range complaints[:ofValues] {
		if at := c.pattern.FindStringSubmatchIndex(said); at != nil {
			return hint.With(errors.New(string(c.pattern.ExpandString(nil, c.say, said, at))), c.hint)
		}
	}
	return nil
}

// ofValues is how many of the complaints, the first, are of what a setting was given.
const ofValues = 4
