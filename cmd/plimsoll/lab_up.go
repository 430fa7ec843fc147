package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/internal/document"
	"plimsoll/lab"
)

type labUpOptions struct {
	name, version string
	nodes         int
	settings      []string
	separate      bool
	json          bool
}

func newLabUp(c console) *cobra.Command {
	var o labUpOptions
	cmd := &cobra.Command{
		Use:   "up PRODUCT",
		Short: "Make a cluster and start it",
		Long: "Make a cluster of mariadb or mysql (one server, or a primary with asynchronous GTID replicas) or a ring of cassandra;\n" +
			"with --separate, servers that have nothing to do with one another. It runs until lab down.",
		Example: `  plimsoll lab up mariadb
  plimsoll lab up mysql --version 9.7 --nodes 3 --name replicas --set innodb_buffer_pool_size=256M
  plimsoll lab up cassandra --nodes 3
  plimsoll lab up mariadb --nodes 5 --separate --name many`,
		Args: exactly("PRODUCT"), ValidArgs: document.SortedKeys(catalog.Products()),
		RunE: func(cmd *cobra.Command, args []string) error { return runLabUp(cmd.Context(), c, args[0], o) },
	}
	cmd.Flags().StringVar(&o.name, "name", "", "the cluster's name (default the product's)")
	cmd.Flags().StringVar(&o.version, "version", "", "such as 11.4, 9.7 or 5.0 (default the one on PATH, else the preferred)")
	cmd.Flags().IntVar(&o.nodes, "nodes", 1, "how many servers; the first is the primary")
	cmd.Flags().BoolVar(&o.separate, "separate", false, "nothing is replicated between the servers")
	cmd.Flags().StringArrayVar(&o.settings, "set", nil, "a setting of the servers, name=value; may be repeated")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func runLabUp(ctx context.Context, c console, product string, o labUpOptions) error {
	if o.nodes < 1 {
		return usageError{text: fmt.Sprintf("--nodes %d, expected 1 or more", o.nodes)}
	}
	deps, err := labDeps()
	if err != nil {
		return err
	}
	deps.Say = func(text string) { fmt.Fprintln(c.err, text) }
	spec := lab.Spec{Name: o.name, Product: product, Version: o.version, Nodes: o.nodes, Separate: o.separate, Config: map[string]string{}}
	if spec.Name == "" {
		spec.Name = product
	}
	for _, setting := range o.settings {
		name, value, ok := strings.Cut(setting, "=")
		if !ok {
			return usageError{text: fmt.Sprintf("--set %s: expected name=value", setting), hint: "--set innodb_buffer_pool_size=256M"}
		}
		spec.Config[name] = value
	}
	cluster, err := lab.Up(ctx, spec, deps)
	if err != nil {
		return err
	}
	err = showCluster(c, cluster, o.json)
	return errors.Join(err, cluster.Close())
}

func showCluster(c console, cluster *lab.Cluster, asJSON bool) error {
	target, err := cluster.Target()
	if err != nil {
		return err
	}
	if asJSON {
		return jsonTo(c, struct {
			Name         string   `json:"name"`
			Product      string   `json:"product"`
			Version      string   `json:"version"`
			Addresses    []string `json:"addresses"`
			User         string   `json:"user"`
			PasswordFile string   `json:"password_file"`
		}{cluster.Name(), cluster.Distribution().Product, cluster.Distribution().Exact, target.Addresses, target.User, cluster.PasswordFile()})
	}
	fmt.Fprintf(c.out, "%s runs: %s %s\n", cluster.Name(), cluster.Distribution().Product, cluster.Distribution().Exact)
	for _, node := range cluster.Nodes() {
		fmt.Fprintf(c.out, "  %s  %s:%d  pid %d\n", node.Name, node.Address, node.Port, node.PID)
	}
	first := "oltp_read_write"
	if target.Engine == "cql" { // it has no transactions of several statements
		first = "ycsb-a"
	}
	fmt.Fprintf(c.out, "Log in:       user %s, the password is in %s\n", target.User, cluster.PasswordFile())
	fmt.Fprintf(c.out, "Load it:      plimsoll load prepare --target lab:%s --workload %s\n", cluster.Name(), first)
	fmt.Fprintf(c.out, "Take it away: plimsoll lab down %s\n", cluster.Name())
	return nil
}
