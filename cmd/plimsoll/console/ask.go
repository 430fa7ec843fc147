package console

import (
	"bufio"
	"fmt"
	"strings"
)

// Confirm asks before something is changed. Without a terminal only --yes answers.
func Confirm(c Streams, yes bool, question string) error {
	if yes {
		return nil
	}
	if _, isTerminal := Terminal(c.In); !isTerminal {
		return UsageError{Text: "this command changes something and needs a confirmation, but there is no terminal", Hint: "add --yes to confirm it"}
	}
	fmt.Fprintf(c.Err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(c.In).ReadString('\n')
	if err == nil && strings.EqualFold(strings.TrimSpace(answer), "y") {
		return nil
	}
	return UsageError{Text: "nothing was changed"}
}
