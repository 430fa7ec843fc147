package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/console"
)

func newMan(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages into a folder", Args: console.Exactly("FOLDER"),
		Long: `Write one manual page for each command, with the text that --help prints. make install puts them where man finds them,
and a release contains them in share/man/man1.`,
		Example: "  plimsoll man ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("make the folder for the manual pages: %w", err)
			}
			if err := doc.GenManTree(cmd.Root(), manHeader(), args[0]); err != nil {
				return fmt.Errorf("write the manual pages: %w", err)
			}
			if err := plainOptions(cmd.Root(), args[0]); err != nil {
				return fmt.Errorf("write the options of the manual pages: %w", err)
			}
			fmt.Fprintf(c.Err, "manual pages written to %s; read one with man %s/plimsoll.1\n", args[0], args[0])
			return nil
		},
	}
}

// manHeader dates the pages by the release, so that the same release always makes the same pages.
func manHeader() *doc.GenManHeader {
	here := versionHere()
	h := &doc.GenManHeader{Section: "1", Source: "plimsoll " + here.Version, Manual: "Plimsoll"}
	if built, err := time.Parse(time.RFC3339, here.Built); err == nil {
		h.Date = &built
	}
	return h
}

// generatedOption is an option of a page as its generator writes it, \fB--class\fP="", and the line below that explains it.
var generatedOption = regexp.MustCompile(`(?m)^((?:\\fB-\w\\fP, )?\\fB--([\w-]+)\\fP)\[?=.*\n\t(.*)$`)

// plainOptions writes the options in the pages of a command and of those below it as manual pages have them: --class CLASS, and --yes.
func plainOptions(cmd *cobra.Command, folder string) error {
	for _, sub := range cmd.Commands() {
		if err := plainOptions(sub, folder); err != nil {
			return err
		}
	}
	file := filepath.Join(folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
	page, err := os.ReadFile(file)
	if os.IsNotExist(err) { // a command that is not shown has none
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, generatedOption.ReplaceAllFunc(page, func(found []byte) []byte {
		parts := generatedOption.FindSubmatch(found)
		f := cmd.Flag(string(parts[2]))
		if f == nil {
			return found
		}
		option, explained := string(parts[1]), string(parts[3])
		if value := valueName(f); value != "" {
			option += ` \fI` + value + `\fP`
		}
		if given := givenByDefault(f); given != "" && !strings.Contains(explained, "default") {
			explained += " (default " + given + ")"
		}
		return []byte(option + "\n\t" + explained)
	}), 0o644)
}

// valueName is what stands for a flag's value: the name in backquotes of its text, or one by its type, or the end of its own; a switch has none.
func valueName(f *pflag.Flag) string {
	if f.NoOptDefVal != "" {
		return ""
	}
	if _, after, quoted := strings.Cut(f.Usage, "`"); quoted {
		name, _, _ := strings.Cut(after, "`")
		return name
	}
	switch f.Value.Type() {
	case "int", "int64", "uint64", "float64":
		return "N"
	case "duration":
		return "TIME"
	}
	return strings.ToUpper(f.Name[strings.LastIndex(f.Name, "-")+1:])
}

// wholeTime is a time that ends in nothing: 6h0m0s is 6h, 5m0s is 5m.
var wholeTime = regexp.MustCompile(`^(\d+h|\d+m|\d+h[1-9]\d*m)(?:0m)?0s$`)

// givenByDefault is a flag's value where none is given, "" for the values that say nothing.
func givenByDefault(f *pflag.Flag) string {
	if slices.Contains([]string{"", "[]", "false", "0", "0s"}, f.DefValue) {
		return ""
	}
	return wholeTime.ReplaceAllString(strings.Trim(f.DefValue, "[]"), "$1")
}
