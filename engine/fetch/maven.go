package fetch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Maven runs a goal of Maven; the hint says what to do where there is no Maven.
func (j *Job) Maven(ctx context.Context, hint, goal string, args ...string) error {
	out, err := j.Tool(ctx, hint, "mvn", append([]string{"--quiet", "--batch-mode", "-Dstyle.color=never", goal}, args...)...)
	if err != nil {
		return mavenError(err, string(out))
	}
	return nil
}

// mavenError is the first of Maven's complaints: it writes them to its output, followed by general advice.
func mavenError(err error, said string) error {
	var exit *infra.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	for line := range strings.Lines(said) {
		_, text, _ := strings.Cut(line, "[ERROR] ")
		text, _, _ = strings.Cut(text, " -> [Help")
		if text = strings.TrimSpace(text); text != "" {
			return hint.With(fmt.Errorf("mvn: %s", text), "check that Maven can reach its repository")
		}
	}
	return err
}
