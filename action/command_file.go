package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// Program is the path that a command begins with; "" if it begins with a name that the shell looks for, or goes on with || where it fails.
func Program(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 || !strings.Contains(words[0], "/") || strings.ContainsAny(words[0], "$`'\"\\*?[]~;|&<>()=#") || strings.Contains(command, "||") {
		return ""
	}
	return words[0]
}

// CorrectPath is what is advised where a command names a file that does not exist.
const CorrectPath = "correct the path, or write an absolute path"

// NoFile says that a command's file is not on this machine, and where it was looked for.
func NoFile(path string) string {
	if folder, err := os.Getwd(); err == nil && !filepath.IsAbs(path) {
		return fmt.Sprintf("the file %s does not exist in %s, where you started Plimsoll", path, folder)
	}
	return fmt.Sprintf("the file %s does not exist on this machine", path)
}

// filePatience is how long a machine may take to say whether a file is there. Of one that does not say so, nothing is said.
const filePatience = 5 * time.Second

// program is what has to be there before the command can be executed; nil if it is, or cannot be told.
func (c *command) program(ctx context.Context, on *cluster.Cluster) []Awaits {
	path := Program(c.Run)
	if path == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, filePatience)
	defer cancel()
	_, err := c.shell(limited, on, infra.Command{Args: []string{"-c", `test -e "$0"`, path}})
	if exit := (*infra.ExitError)(nil); !errors.As(err, &exit) || exit.Status != 1 {
		return nil
	}
	reason := NoFile(path)
	if c.Node != "" {
		reason = fmt.Sprintf("the file %s does not exist on the machine of node %s", path, c.Node)
	}
	return []Awaits{{Refusal: &hint.PermanentError{
		Reason: reason, Advice: CorrectPath, Err: &engine.Error{Kind: engine.Missing, Text: reason},
	}}}
}
