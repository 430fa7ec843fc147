package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/lab"
)

type labUpOptions struct {
	name, version string
	nodes         int
	settings      []string
	json          bool
}

func newLabUp(c console) *cobra.Command {
	var o labUpOptions
	cmd := &cobra.Command{
		Use:   "up PRODUCT",
		Short: "Make a cluster and start it",
		Long:  "Make a cluster of mariadb or mysql: one server, or a primary with asynchronous GTID replicas. It runs until lab down.",
		Example: `  plimsoll lab up mariadb
  plimsoll lab up mysql --version 9.7 --nodes 3 --name replicas --set innodb_buffer_pool_size=256M`,
		Args: exactly("PRODUCT"),
		RunE: func(cmd *cobra.Command, args []string) error { return runLabUp(cmd.Context(), c, args[0], o) },
	}
	cmd.Flags().StringVar(&o.name, "name", "", "the cluster's name (default the product's)")
	cmd.Flags().StringVar(&o.version, "version", "", "such as 11.4, 10.11 or 9.7 (default the one on PATH, else the preferred)")
	cmd.Flags().IntVar(&o.nodes, "nodes", 1, "how many servers; the first is the primary")
	cmd.Flags().StringArrayVar(&o.settings, "set", nil, "a setting of the servers, name=value; may be repeated")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func runLabUp(ctx context.Context, c console, product string, o labUpOptions) error {
	deps, err := labDeps()
	if err != nil {
		return err
	}
	deps.Say = func(text string) { fmt.Fprintln(c.err, text) }
	spec := lab.Spec{Name: o.name, Product: product, Version: o.version, Nodes: o.nodes, Config: map[string]string{}}
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
			Name      string   `json:"name"`
			Product   string   `json:"product"`
			Version   string   `json:"version"`
			Addresses []string `json:"addresses"`
			User      string   `json:"user"`
		}{cluster.Name(), cluster.Distribution().Product, cluster.Distribution().Exact, target.Addresses, target.User})
	}
	fmt.Fprintf(c.out, "%s runs: %s %s\n", cluster.Name(), cluster.Distribution().Product, cluster.Distribution().Exact)
	for _, node := range cluster.Nodes() {
		fmt.Fprintf(c.out, "  %s  %s:%d  pid %d\n", node.Name, node.Address, node.Port, node.PID)
	}
	fmt.Fprintf(c.out, "Load it:      plimsoll load prepare --target lab:%s --workload oltp_read_write\n", cluster.Name())
	fmt.Fprintf(c.out, "Take it away: plimsoll lab down %s\n", cluster.Name())
	return nil
}
