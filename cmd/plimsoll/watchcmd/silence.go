package watchcmd

import (
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/internal/document"
	"plimsoll/watch/rules"
	"plimsoll/watch/store"
)

type silenceOptions struct {
	lasts, comment string
	json           bool
}

func newSilence(c console.Streams) *cobra.Command {
	var o silenceOptions
	cmd := &cobra.Command{
		Use:   "silence NAME=VALUE...",
		Short: "Mute some alerts for a time",
		Long: `Mute the alerts that have all of these labels: alertname, instance, cluster, severity and any other label of a rule. They stay visible,
but no notification is sent. A running watch applies the silence within five seconds.`,
		Example: `  plimsoll watch silence instance=orders/n2 --for 2h --comment "disk is swapped"
  plimsoll watch silence alertname=ReplicaLags cluster=orders
  plimsoll watch silence list
  plimsoll watch silence end d7cq2nxh`,
		Args: console.Some(1, 0),
		RunE: func(_ *cobra.Command, args []string) error { return addSilence(c, args, o) },
	}
	cmd.Flags().StringVar(&o.lasts, "for", "1h", "how long, such as 30m, 2h or 1d")
	cmd.Flags().StringVar(&o.comment, "comment", "", "reason, shown in the list of silences")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.AddCommand(newSilenceList(c), newSilenceEnd(c))
	return cmd
}

func newSilenceList(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the active silences", Args: console.Exactly(), Example: `  plimsoll watch silence list`,
		RunE: func(*cobra.Command, []string) error { return listSilences(c, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newSilenceEnd(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "end ID", Short: "End a silence before its time", Args: console.Exactly("ID"), Example: `  plimsoll watch silence end d7cq2nxh`,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := silences()
			if err != nil {
				return err
			}
			if err := s.End(args[0]); err != nil {
				return err
			}
			fmt.Fprintln(c.Err, "it has ended")
			return nil
		},
	}
}

// silences are those of the state folder, which a watch that runs reads too.
func silences() (*rules.Silences, error) {
	deps, err := home.LabDeps()
	if err != nil {
		return nil, err
	}
	return rules.OpenSilences(filepath.Join(home.WatchFolder(deps), "silences.json"))
}

func addSilence(c console.Streams, args []string, o silenceOptions) error {
	lasts, err := store.Duration(o.lasts)
	if err != nil || lasts <= 0 {
		return console.UsageError{Text: fmt.Sprintf("--for %q, expected such as 30m, 2h or 1d", o.lasts)}
	}
	labels := map[string]string{}
	for _, arg := range args {
		name, value, isLabel := strings.Cut(arg, "=")
		if !isLabel || name == "" || value == "" {
			advice := "such as instance=orders/n2 or alertname=ReplicaLags"
			if near := document.Nearest(arg, []string{"list", "end"}); near != "" {
				advice = "did you mean plimsoll watch silence " + near + "?"
			}
			return console.UsageError{Text: fmt.Sprintf("%q is not a label with its value", arg), Hint: advice}
		}
		labels[name] = value
	}
	s, err := silences()
	if err != nil {
		return err
	}
	now := time.Now()
	silence := rules.Silence{Labels: labels, Until: now.Add(lasts).Round(time.Second), Comment: o.comment, By: os.Getenv("USER")}
	if who, err := user.Current(); err == nil {
		silence.By = who.Username
	}
	if silence, err = s.Add(silence, now); err != nil {
		return err
	}
	for _, caution := range mistyped(silence) {
		fmt.Fprintln(c.Err, caution)
	}
	if o.json {
		return console.PrintJSON(c, silence)
	}
	fmt.Fprintln(c.Out, silence.ID)
	fmt.Fprintf(c.Err, "alerts with %s are muted until %s\n", labelText(labels), silence.Until.Local().Format(time.DateTime))
	return nil
}

// mistyped says which labels look like others, or like a built-in rule: rules of one's own may have such, so nothing is refused.
func mistyped(silence rules.Silence) (cautions []string) {
	labels, end := silence.Labels, "If so, end this silence: plimsoll watch silence end "+silence.ID
	usual := []string{"alertname", "instance", "cluster", "severity", "job"}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if near := document.Nearest(name, usual); near != "" && !slices.Contains(usual, name) {
			cautions = append(cautions, fmt.Sprintf("Caution: no built-in rule has the label %s; did you mean %s=%s? %s", name, near, labels[name], end))
		}
	}
	groups, err := rules.Shipped()
	if err != nil {
		return cautions // they only help
	}
	var known []string
	for _, g := range groups {
		for _, r := range g.Rules {
			known = append(known, r.Alert)
		}
	}
	if name := labels["alertname"]; name != "" && !slices.Contains(known, name) {
		if near := document.Nearest(name, known); near != "" {
			cautions = append(cautions, fmt.Sprintf("Caution: no built-in rule is called %s; did you mean alertname=%s? %s", name, near, end))
		}
	}
	return cautions
}

func listSilences(c console.Streams, asJSON bool) error {
	s, err := silences()
	if err != nil {
		return err
	}
	all := s.List(time.Now())
	switch {
	case asJSON:
		return console.PrintJSON(c, append([]rules.Silence{}, all...))
	case len(all) == 0:
		fmt.Fprintln(c.Err, "nothing is silenced")
		return nil
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUNTIL\tALERTS\tBY\tCOMMENT")
	for _, one := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", one.ID, one.Until.Local().Format(time.DateTime), labelText(one.Labels), orNone(one.By), orNone(one.Comment))
	}
	return w.Flush()
}

func labelText(labels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name+"="+labels[name])
	}
	return strings.Join(all, " ")
}
