package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/inventory"
)

//go:embed templates/*.yaml
var templates embed.FS

func newInit(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "init", Short: "Write a first trial, runbook or inventory, with comments",
		Long: "Write a commented starter file that is valid as it is.",
	}
	cmd.AddCommand(newInitTrial(c), newInitRunbook(c), newInitInventory(c))
	return cmd
}

// start is what a first file is filled with.
type start struct {
	Name, Engine, Product, Environment, User string
	Nodes                                    []startNode
	CQL                                      bool
}

// startNode is a server of a first inventory.
type startNode struct{ Name, Address string }

func newInitTrial(c console.Streams) *cobra.Command {
	s := start{}
	cmd := &cobra.Command{
		Use: "trial [FILE]", Short: "Write a trial that compares two settings", Args: console.Some(0, 1),
		Example: "  plimsoll init trial\n  plimsoll init trial pool.yaml --engine mysql",
		RunE: func(_ *cobra.Command, args []string) error {
			return writeStart(c, "trial", orElse(args, "trial.yaml"), s)
		},
	}
	engineFlag(cmd, &s)
	return cmd
}

func newInitRunbook(c console.Streams) *cobra.Command {
	s := start{}
	cmd := &cobra.Command{
		Use: "runbook [FILE]", Short: "Write a runbook that makes one change, and checks it", Args: console.Some(0, 1),
		Example: "  plimsoll init runbook add-index.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			return writeStart(c, "runbook", orElse(args, "runbook.yaml"), s)
		},
	}
	engineFlag(cmd, &s)
	return cmd
}

func newInitInventory(c console.Streams) *cobra.Command {
	s := start{}
	var addresses []string
	cmd := &cobra.Command{
		Use: "inventory [FILE]", Short: "Write an inventory with one cluster, or add a cluster to an inventory", Args: console.Some(0, 1),
		Long:    "Write an inventory with one cluster. If the file exists, the cluster is added to it, and everything else in it stays unchanged.",
		Example: "  plimsoll init inventory --address db1.example:3306 --address db2.example:3306 --environment staging",
		RunE: func(cmd *cobra.Command, args []string) error {
			if product := catalog.Products()[s.Product]; !cmd.Flags().Changed("address") && product.Engine != nil && product.Engine.Name() == "cql" {
				addresses = []string{"127.0.0.1:9042"}
			}
			for i, address := range addresses {
				s.Nodes = append(s.Nodes, startNode{fmt.Sprintf("db%d", i+1), address})
			}
			return writeStart(c, "inventory", orElse(args, inventory.File), s)
		},
	}
	engineFlag(cmd, &s)
	cmd.Flags().StringVar(&s.Name, "name", "shop", "the cluster's name")
	cmd.Flags().StringVar(&s.Environment, "environment", "staging", "lab, staging or production")
	cmd.Flags().StringSliceVar(&addresses, "address", []string{"127.0.0.1:3306"}, "host:port of a server; repeated for each further one, such as a replica (of Cassandra default 127.0.0.1:9042)")
	cmd.Flags().StringVar(&s.User, "user", "plimsoll", "account that Plimsoll logs in with")
	return cmd
}

func engineFlag(cmd *cobra.Command, s *start) {
	cmd.Flags().StringVar(&s.Product, "engine", "mariadb", strings.Join(document.SortedKeys(catalog.Products()), ", "))
}

func orElse(args []string, otherwise string) string {
	if len(args) > 0 {
		return args[0]
	}
	return otherwise
}

// writeStart fills a template in and writes it, unless there is such a file.
func writeStart(c console.Streams, kind, file string, s start) error {
	product, known := catalog.Products()[s.Product]
	if !known {
		return console.UsageError{Text: fmt.Sprintf("--engine %s: there is no such product", s.Product), Hint: "expected " + strings.Join(document.SortedKeys(catalog.Products()), ", ")}
	}
	s.Engine = product.Engine.Name()
	s.CQL = s.Engine == "cql"
	if s.Name == "" {
		s.Name = strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
	t, err := template.ParseFS(templates, "templates/"+kind+".yaml")
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	var text bytes.Buffer
	if err := t.Execute(&text, s); err != nil {
		return fmt.Errorf("fill in the template: %w", err)
	}
	if kind == "inventory" {
		if _, err := inventory.Parse(file, text.Bytes()); err != nil {
			return console.UsageError{Text: "an inventory of these flags would not be valid, and nothing is written: " + err.Error(), Hint: "plimsoll init inventory --help"}
		}
	}
	said := file + " written"
	switch err := writeNew(file, text.Bytes()); {
	case errors.Is(err, fs.ErrExist) && kind == "inventory":
		if err := addCluster(c, file, t, s); err != nil {
			return err
		}
		said = "Cluster " + s.Name + " added to " + file
	case errors.Is(err, fs.ErrExist):
		return console.UsageError{Text: file + " exists already, and is left as it is", Hint: "name another file"}
	case err != nil:
		return hint.Missing(fmt.Errorf("write %s: %w", file, err), "create the folder first: mkdir -p "+hint.Quoted(filepath.Dir(file)))
	}
	typed := hint.Quoted(file)
	next := map[string]string{
		"trial":     "plimsoll trial validate " + typed + ", then plimsoll trial run " + typed + " --quick",
		"runbook":   "plimsoll runbook validate " + typed + ", then plimsoll runbook rehearse " + typed + hint.Flags("--cluster", onlyCluster(s.Engine)) + hint.Flags("-i", "node="+hint.FillIn),
		"inventory": "plimsoll runbook plan mysql/set-variable --cluster " + s.Name + " -i name=max_connections -i value=500",
	}[kind]
	if s.CQL && kind == "inventory" {
		next = "plimsoll runbook plan cql/repair --cluster " + s.Name
	}
	if kind == "inventory" && filepath.Base(file) != inventory.File { // no command finds it by itself
		next += hint.Flags("--inventory", file)
	}
	fmt.Fprintf(c.Prose(), "%s. Next: %s\n", said, next)
	return nil
}

// writeNew writes a file that is not there yet.
func writeNew(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// onlyCluster is the cluster of the inventory, where it has one alone and that is of an engine; else a person chooses.
func onlyCluster(engineName string) string {
	inv, err := inventory.Open()
	if err != nil || len(inv.Clusters) != 1 {
		return hint.FillIn
	}
	for name, c := range inv.Clusters {
		if c.Engine == engineName {
			return name
		}
	}
	return hint.FillIn
}
