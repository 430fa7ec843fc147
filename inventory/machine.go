package inventory

import (
	"strings"

	"plimsoll/infra/ssh"
	"plimsoll/internal/document"
)

// Local is the machine that Plimsoll runs on, and sshPrefix names one that is reached by ssh as it is, without an entry of its own.
const (
	Local     = "local"
	sshPrefix = "ssh:"
)

// Machine is how a machine is reached.
type Machine struct {
	SSH    string `yaml:"ssh,required" doc:"host, user@host or ssh://user@host:port, as for the ssh command; an alias of your ssh configuration works too."`
	Become string `yaml:"become" doc:"The user that the helper runs as there, through sudo -n. Default: the user who logs in."`
	Config string `yaml:"config" doc:"A configuration file for ssh, instead of your own."`
	EC2    *EC2   `yaml:"ec2" doc:"The EC2 instance of this machine, so that Plimsoll can attach and detach its volumes, stop it and verify that it is stopped."`
}

// Host is the machine as ssh is asked for it.
func (m Machine) Host() ssh.Host {
	return ssh.Host{Destination: m.SSH, Become: m.Become, Config: m.Config}
}

func (m Machine) check(name string, n *document.Node, ps *document.Problems) {
	if !validName.MatchString(name) || name == Local {
		ps.Add(n, n.Errorf("machine name %q, expected lower-case letters, digits and hyphens, at most 40, and not local", name))
	}
	if err := m.Host().Check(); err != nil {
		ps.Add(n, n.Errorf("%v", err))
	}
	if m.EC2 != nil {
		m.EC2.check(n.Get("ec2"), ps)
	}
}

// Machine returns how a machine is reached that has an entry in the inventory, or is called ssh:HOST. An instance of EC2 of which no
// region is said stands where the cluster that uses it does.
func (inv *Inventory) Machine(name string) (Machine, bool) {
	m, known := machineOf(inv.Machines, name)
	if m.EC2 == nil {
		return m, known
	}
	for _, cluster := range document.SortedKeys(inv.Clusters) {
		c := inv.Clusters[cluster]
		for _, n := range c.Nodes {
			if is, ok := c.InstanceOf(n); ok && n.Machine == name {
				m.EC2 = &is
				return m, known
			}
		}
	}
	return m, known
}

func machineOf(machines map[string]Machine, name string) (Machine, bool) {
	if host, direct := strings.CutPrefix(name, sshPrefix); direct {
		m := Machine{SSH: host}
		return m, m.Host().Check() == nil
	}
	m, known := machines[name]
	return m, known
}

// MachineOf returns how a node's machine is reached; false: it is this one, or none is known.
func (c Cluster) MachineOf(n Node) (Machine, bool) {
	if n.Machine == Local {
		return Machine{}, false
	}
	return machineOf(c.machines, n.Machine)
}

// checkMachine refuses what a node says of its machine that leads nowhere.
func (n Node) checkMachine(at *document.Node, machines map[string]Machine, ps *document.Problems) {
	switch {
	case n.Machine == "" && n.Service != "":
		ps.Add(at, at.Errorf("service %s without a machine on which it runs", n.Service).WithHint("machine: local, ssh:HOST, or one of machines"))
	case n.Machine == "", n.Machine == Local:
	default:
		if _, known := machineOf(machines, n.Machine); !known {
			ps.Add(at, document.UnknownName(at.Get("machine"), "machine", append([]string{Local, sshPrefix + "HOST"}, document.SortedKeys(machines)...)))
		}
	}
	if strings.HasPrefix(n.Service, "-") || strings.ContainsAny(n.Service, " \t\n/*?[") {
		ps.Add(at, at.Get("service").Errorf("service %q, expected the name of a systemd unit", n.Service))
	}
}
