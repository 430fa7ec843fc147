package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"plimsoll/infra/aws/record"
)

// recordFlag lets every command keep what AWS answers. It is handed on in the environment, to processes that are started too.
func recordFlag(root *cobra.Command) {
	var folder string
	root.PersistentFlags().StringVar(&folder, "record", "", "keep AWS's answers, sanitised, in this folder (default $"+record.Variable+", else nowhere)")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if folder == "" {
			return nil
		}
		path, err := filepath.Abs(folder)
		if err != nil {
			return fmt.Errorf("find the folder of a recording: %w", err)
		}
		return os.Setenv(record.Variable, path)
	}
}
