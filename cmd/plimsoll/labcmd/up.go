package labcmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/lab"
)

type upOptions struct {
	name, version string
	nodes         int
	settings      []string
	separate      bool
	disk          string
	machines      bool
	on            []string
	memory        string
	volumes       []string
	json          bool
}

func newUp(c console.Streams) *cobra.Command {
	var o upOptions
	cmd := &cobra.Command{
		Use:   "up PRODUCT",
		Short: "Create a cluster and start it",
		Long: "Create a cluster of mariadb, mysql or rds-mysql, which is mysql with the privileges and procedures of RDS (one server, or a primary\n" +
			"with asynchronous GTID replicas), or a ring of cassandra; with --separate, independent servers. It runs until plimsoll lab down.",
		Example: `  plimsoll lab up mariadb
  plimsoll lab up mysql --version 9.7 --nodes 3 --name replicas --set innodb_buffer_pool_size=256M
  plimsoll lab up cassandra --nodes 3
  plimsoll lab up mariadb --nodes 5 --separate --name many
  plimsoll lab up mariadb --disk gp2:800GiB,balance=5%,scale=1/10
  plimsoll lab up mariadb --machines --volume local=2G --volume network=2G,iops=3000,throughput=125M
  plimsoll lab up cassandra --nodes 3 --machines --on n3 --volume local=2G --volume network=2G`,
		Args: console.Exactly("PRODUCT"), ValidArgs: document.SortedKeys(catalog.Products()),
		RunE: func(cmd *cobra.Command, args []string) error { return runLabUp(cmd.Context(), c, args[0], o) },
	}
	cmd.Flags().StringVar(&o.name, "name", "", "the cluster's name (default the product's)")
	cmd.Flags().StringVar(&o.version, "version", "", "such as 11.4, 9.7 or 5.0 (default the one on PATH, else the preferred)")
	cmd.Flags().IntVar(&o.nodes, "nodes", 1, "how many servers; the first is the primary")
	cmd.Flags().BoolVar(&o.separate, "separate", false, "independent servers, without replication between them")
	cmd.Flags().StringArrayVar(&o.settings, "set", nil, "a setting of the servers, name=value; may be repeated")
	cmd.Flags().StringVar(&o.disk, "disk", "", "an emulated cloud volume for each node, with its limits, burst bucket and latency: gp2:800GiB, or io2:1TiB:20000 with its IOPS; optionally followed by ,balance=5% ,scale=1/10 ,managed (striped as RDS does) ,volumes=4")
	cmd.Flags().BoolVar(&o.machines, "machines", false, "run every server in a machine with its own kernel and volumes")
	cmd.Flags().StringSliceVar(&o.on, "on", nil, "with --machines: only these nodes run in a machine, such as n3 (default all)")
	cmd.Flags().StringVar(&o.memory, "memory", "", "with --machines: memory of each machine (default: what the server needs, at least 1G)")
	cmd.Flags().StringArrayVar(&o.volumes, "volume", nil, "with --machines: a volume of each machine, name=size[,iops=N][,throughput=SIZE]; local holds the data (default local=4G)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func runLabUp(ctx context.Context, c console.Streams, product string, o upOptions) error {
	if o.nodes < 1 {
		return console.UsageError{Text: fmt.Sprintf("--nodes %d, expected 1 or more", o.nodes)}
	}
	machines, err := o.ownMachines()
	if err != nil {
		return err
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	deps.Say = func(text string) { fmt.Fprintln(c.Err, text) }
	spec := lab.Spec{Name: o.name, Product: product, Version: o.version, Nodes: o.nodes, Separate: o.separate, Machines: machines, Config: map[string]string{}}
	if o.disk != "" {
		if spec.Disk, err = lab.ParseDisk(o.disk); err != nil {
			return usageErrorOf("--disk "+o.disk, err)
		}
	}
	if spec.Name == "" {
		spec.Name = product
	}
	for _, setting := range o.settings {
		name, value, ok := strings.Cut(setting, "=")
		if !ok {
			return console.UsageError{Text: fmt.Sprintf("--set %s: expected name=value", setting), Hint: "such as --set innodb_buffer_pool_size=256M"}
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

func showCluster(c console.Streams, cluster *lab.Cluster, asJSON bool) error {
	target, err := cluster.Target()
	if err != nil {
		return err
	}
	if asJSON {
		return console.PrintJSON(c, struct {
			Name         string   `json:"name"`
			Product      string   `json:"product"`
			Version      string   `json:"version"`
			Addresses    []string `json:"addresses"`
			User         string   `json:"user"`
			PasswordFile string   `json:"password_file"`
		}{cluster.Name(), cluster.Distribution().Product, cluster.Distribution().Exact, target.Addresses, target.User, cluster.PasswordFile()})
	}
	fmt.Fprintf(c.Out, "%s is running: %s %s\n", cluster.Name(), cluster.Distribution().Product, cluster.Distribution().Exact)
	for _, node := range cluster.Nodes() {
		fmt.Fprintf(c.Out, "  %s  %s:%d  pid %d\n", node.Name, node.Address, node.Port, node.PID)
	}
	first := "oltp_read_write"
	if target.Engine == "cql" { // it has no transactions of several statements
		first = "ycsb-a"
	}
	fmt.Fprintf(c.Out, "Log in:       user %s, the password is in %s\n", target.User, cluster.PasswordFile())
	fmt.Fprintf(c.Out, "Load it:      plimsoll load prepare --target lab:%s --workload %s\n", cluster.Name(), first)
	fmt.Fprintf(c.Out, "Database:     plimsoll, once it is loaded\n")
	fmt.Fprintf(c.Out, "Remove it:    plimsoll lab down %s\n", cluster.Name())
	return nil
}

// ownMachines are the machines of the nodes; nil if they have none.
func (o upOptions) ownMachines() (*lab.Machines, error) {
	if !o.machines {
		if o.memory != "" || len(o.volumes) > 0 || len(o.on) > 0 {
			return nil, console.UsageError{Text: "--on, --memory and --volume need --machines", Hint: "add --machines"}
		}
		return nil, nil
	}
	m := &lab.Machines{On: o.on, Volumes: map[string]infra.VolumeSpec{}}
	var err error
	if o.memory != "" {
		if m.Memory, err = document.ParseSize(o.memory); err != nil {
			return nil, console.UsageError{Text: "--memory " + err.Error()}
		}
	}
	for _, text := range o.volumes {
		name, v, err := parseVolume(text)
		if err != nil {
			return nil, console.UsageError{Text: fmt.Sprintf("--volume %s: %v", text, err), Hint: "such as --volume network=2G,iops=3000,throughput=125M"}
		}
		m.Volumes[name] = v
	}
	return m, nil
}

// parseVolume reads name=size[,iops=N][,throughput=SIZE][,kind=gp2].
func parseVolume(text string) (name string, v infra.VolumeSpec, err error) {
	for i, part := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case i == 0:
			name = key
			v.Size, err = document.ParseSize(value)
		case key == "iops":
			v.IOPS, err = strconv.Atoi(value)
		case key == "throughput":
			v.Throughput, err = document.ParseSize(value)
		case key == "kind" && value == "gp2":
			v.Kind = value
		default:
			err = fmt.Errorf("%q is not an option of a volume", part)
		}
		if err != nil {
			return "", v, err
		}
	}
	return name, v, nil
}
