package inventory

import (
	"errors"
	"path"
	"slices"
	"strings"

	"plimsoll/infra/kube"
	"plimsoll/infra/ssh"
	"plimsoll/internal/document"
)

// Local is the machine that Plimsoll runs on. The prefixes name machines that are reached as they are, without an entry of their own.
const (
	Local     = "local"
	sshPrefix = "ssh:"
	podPrefix = "pod:"
)

// Machine is how a machine is reached.
type Machine struct {
	SSH    string `yaml:"ssh" doc:"host, user@host or ssh://user@host:port, as for the ssh command; an alias of your ssh configuration works too."`
	Become string `yaml:"become" doc:"The user that the helper runs as there, through sudo -n. Default: the user who logs in."`
	Config string `yaml:"config" doc:"A configuration file for ssh, instead of your own."`
	// Of a pod, which is reached by kubectl.
	Pod        string `yaml:"pod" doc:"In place of ssh: NAMESPACE/POD, which Plimsoll reaches with your own kubectl."`
	Container  string `yaml:"container" doc:"The container of the pod. Default: the one that kubectl exec takes."`
	Context    string `yaml:"context" doc:"The context of your kubeconfig. Default: the cluster's kubernetes: context, otherwise the current one."`
	Kubeconfig string `yaml:"kubeconfig" doc:"A kubeconfig file, instead of your own."`

	EC2 *EC2 `yaml:"ec2" doc:"The EC2 instance of this machine, so that Plimsoll can attach and detach its volumes, stop it and verify that it is stopped."`
}

// Host is the machine as ssh is asked for it.
func (m Machine) Host() ssh.Host {
	return ssh.Host{Destination: m.SSH, Become: m.Become, Config: m.Config}
}

// InPod is the machine as a pod; false: it is reached by ssh.
func (m Machine) InPod() (kube.Pod, bool) {
	if m.Pod == "" {
		return kube.Pod{}, false
	}
	namespace, name, _ := strings.Cut(m.Pod, "/")
	return kube.Pod{Access: kube.Access{Config: m.Kubeconfig, Context: m.Context}, Namespace: namespace, Name: name, Container: m.Container}, true
}

// reachable tells what is wrong with how it is reached.
func (m Machine) reachable() error {
	pod, is := m.InPod()
	switch {
	case is && m.SSH != "":
		return errors.New("expected one of ssh and pod")
	case is && (m.Become != "" || m.Config != "" || m.EC2 != nil):
		return errors.New("become, config and ec2 are for machines that are reached by ssh: in a pod, commands run as the container's user")
	case is:
		return pod.Check()
	case m.Container != "" || m.Context != "" || m.Kubeconfig != "":
		return errors.New("container, context and kubeconfig are for pods: say pod: NAMESPACE/POD")
	}
	return m.Host().Check()
}

func (m Machine) check(name string, n *document.Node, ps *document.Problems) {
	if !validName.MatchString(name) || name == Local {
		ps.Add(n, n.Errorf("machine name %q, expected lower-case letters, digits and hyphens, at most 40, and not local", name))
	}
	if err := m.reachable(); err != nil {
		ps.Add(n, n.Errorf("%v", err))
	}
	if m.EC2 != nil {
		m.EC2.check(n.Get("ec2"), ps)
	}
}

// Machine returns how a machine is reached that has an entry in the inventory, or is called ssh:HOST or pod:NAMESPACE/POD. An instance of
// EC2 of which no region is said, and a pod of which no context is, stand where the cluster that uses them does.
func (inv *Inventory) Machine(name string) (Machine, bool) {
	m, known := machineOf(inv.Machines, name)
	if m.Pod != "" {
		for _, cluster := range document.SortedKeys(inv.Clusters) {
			c := inv.Clusters[cluster]
			if slices.ContainsFunc(c.Nodes, func(n Node) bool { return n.Machine == name }) {
				return c.within(m), known
			}
		}
	}
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
	if pod, direct := strings.CutPrefix(name, podPrefix); direct {
		m := Machine{Pod: pod}
		return m, m.reachable() == nil
	}
	m, known := machines[name]
	return m, known
}

// MachineOf returns how a node's machine is reached; false: it is this one, or none is known.
func (c Cluster) MachineOf(n Node) (Machine, bool) {
	if n.Machine == Local {
		return Machine{}, false
	}
	m, known := machineOf(c.machines, n.Machine)
	return c.within(m), known
}

// within is a pod of this cluster, in its Kubernetes if none is said.
func (c Cluster) within(m Machine) Machine {
	if m.Pod != "" && c.Kubernetes != nil && m.Context == "" && m.Kubeconfig == "" {
		m.Context, m.Kubeconfig = c.Kubernetes.Context, c.Kubernetes.Kubeconfig
	}
	return m
}

// checkMachine refuses what a node says of its machine that leads nowhere.
func (n Node) checkMachine(at *document.Node, machines map[string]Machine, ps *document.Problems) {
	if n.Data != "" && (n.Machine == "" || !path.IsAbs(n.Data)) {
		ps.Add(at, at.Get("data").Errorf("data %q, expected the absolute path of a folder on the node's machine", n.Data).WithHint("machine: local, ssh:HOST, or one of machines; data: /var/lib/cassandra"))
	}
	switch {
	case n.Machine == "" && n.Service != "":
		ps.Add(at, at.Errorf("service %s without a machine on which it runs", n.Service).WithHint("machine: local, ssh:HOST, or one of machines"))
	case n.Service != "" && strings.HasPrefix(n.Machine, podPrefix):
		ps.Add(at, at.Errorf("service %s in a pod, in which no systemd runs", n.Service).WithHint("runbooks kube/… change what an operator runs"))
	case n.Machine == "", n.Machine == Local:
	default:
		if _, known := machineOf(machines, n.Machine); !known {
			ps.Add(at, document.UnknownName(at.Get("machine"), "machine", append([]string{Local, sshPrefix + "HOST", podPrefix + "NAMESPACE/POD"}, document.SortedKeys(machines)...)))
		}
	}
	if strings.HasPrefix(n.Service, "-") || strings.ContainsAny(n.Service, " \t\n/*?[") {
		ps.Add(at, at.Get("service").Errorf("service %q, expected the name of a systemd unit", n.Service))
	}
}
