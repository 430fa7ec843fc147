package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/internal/document"
)

var shells = []string{"bash", "zsh", "fish"}

func newCompletion(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the script for tab completion in your shell", Args: console.Exactly("SHELL"),
		Long: `Print a script for bash, zsh or fish. It completes commands and flags, and the names of existing runbooks, clusters, nodes, runs and steps.

bash, in ~/.bashrc:   source <(plimsoll completion bash)
zsh, once:            plimsoll completion zsh > "${fpath[1]}/_plimsoll"
fish, once:           plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish`,
		Example:   "  source <(plimsoll completion bash)",
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				if err := cmd.Root().GenBashCompletionV2(c.Out, true); err != nil {
					return fmt.Errorf("write the script: %w", err)
				}
				_, err := fmt.Fprint(c.Out, bareBash)
				return err
			case "zsh":
				return cmd.Root().GenZshCompletion(c.Out)
			case "fish":
				return cmd.Root().GenFishCompletion(c.Out, true)
			}
			return document.UnknownName(&document.Node{Kind: document.Scalar, Text: args[0]}, "shell", shells)
		},
	}
}

// bareBash lets the script do without the package bash-completion, which is not everywhere and not always loaded: it takes the line
// apart itself, at blanks alone.
const bareBash = `
__plimsoll_init_completion()
{
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        COMPREPLY=()
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local line="${COMP_LINE:0:COMP_POINT}"
    read -r -a words <<<"$line"
    if [[ "$line" == *[[:blank:]] ]]; then
        words+=("")
    fi
    cword=$((${#words[@]} - 1))
    cur="${words[cword]}"
    prev="${words[cword > 0 ? cword - 1 : 0]}"
}

declare -F _filedir >/dev/null 2>&1 || _filedir()
{
    local file
    while IFS= read -r file; do
        if [[ -d "$file" ]]; then
            COMPREPLY+=("$file/")
        elif [[ "${1-}" != -d && "$file" =~ \.(${1%|})$ ]]; then
            COMPREPLY+=("$file")
        fi
    done < <(compgen -f -- "$cur")
}
`
