package home

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/inventory"
	"plimsoll/lab"
)

// CompleteClusters offers the clusters of the inventory and of the lab.
func CompleteClusters(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return ClustersHere(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
}

// ClustersHere is ClusterNames with the inventory and the labs of this machine; none if they cannot be read.
func ClustersHere(ctx context.Context) []string {
	inv, deps, err := surroundings()
	if err != nil {
		return nil
	}
	return ClusterNames(ctx, inv, deps)
}

// labsHere lists the clusters of the lab.
func labsHere(ctx context.Context) []string {
	deps, err := LabDeps()
	if err != nil {
		return nil
	}
	return ClusterNames(ctx, &inventory.Inventory{}, deps)
}

// surroundings reads the inventory, and has what labs on this machine work with.
func surroundings() (*inventory.Inventory, lab.Deps, error) {
	inv, err := inventory.Open()
	if err != nil {
		return nil, lab.Deps{}, err
	}
	deps, err := LabDeps()
	return inv, deps, err
}

// NodesOf lists a cluster's nodes as they are written down.
func NodesOf(ctx context.Context, cluster string) []string {
	inv, deps, err := surroundings()
	if err != nil {
		return nil
	}
	var names []string
	cluster = Called(cluster, inv)
	for _, n := range inv.Clusters[cluster].Nodes {
		names = append(names, n.Name)
	}
	made, err := lab.List(ctx, deps)
	if err != nil || len(names) > 0 {
		return names
	}
	for _, c := range made {
		if c.Name == strings.TrimPrefix(cluster, LabPrefix) {
			for _, n := range c.Nodes {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// CompleteLabs offers the clusters of the lab that do not stand on the line yet.
func CompleteLabs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, name := range labsHere(cmd.Context()) {
		if !slices.Contains(args, name) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteLab offers clusters of the lab for the only argument.
func CompleteLab(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return CompleteLabs(cmd, args, typed)
}

// CompleteNodes offers the nodes of the lab cluster that is the only argument.
func CompleteNodes(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return NodesOf(cmd.Context(), LabPrefix+args[0]), cobra.ShellCompDirectiveNoFileComp
}

// CompleteCluster offers clusters for the only argument.
func CompleteCluster(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return CompleteClusters(cmd, args, typed)
}
