package main

import (
	"bufio"
	"fmt"
	"strings"
)

// confirm asks before something is changed. Without a terminal only --yes answers.
func confirm(c console, yes bool, question string) error {
	if yes {
		return nil
	}
	if _, person := terminal(c.in); !person {
		return usageError{text: "this command changes something and needs a confirmation, but there is no terminal", hint: "add --yes to confirm it"}
	}
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(c.in).ReadString('\n')
	if err == nil && strings.EqualFold(strings.TrimSpace(answer), "y") {
		return nil
	}
	return usageError{text: "nothing was changed"}
}
