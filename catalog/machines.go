package catalog

import (
	"plimsoll/infra"
	"plimsoll/infra/kube"
	"plimsoll/infra/remote"
	"plimsoll/infra/ssh"
	"plimsoll/inventory"
)

// ReachedMachine is a machine that the inventory says how to reach, from here. Close it when it is not needed any more.
func ReachedMachine(name string, m inventory.Machine, here infra.Machine) (*remote.Machine, error) {
	return reachedMachine(name, m, here, kube.Settings{})
}

// WatchedMachine is one that is only looked at: a pod that was created anew under its name is the same to a watch.
func WatchedMachine(name string, m inventory.Machine, here infra.Machine) (*remote.Machine, error) {
	return reachedMachine(name, m, here, kube.Settings{Follow: true})
}

func reachedMachine(name string, m inventory.Machine, here infra.Machine, s kube.Settings) (*remote.Machine, error) {
	if pod, is := m.InPod(); is {
		return kube.Machine(DescribeMachine(name, m), here, pod, s)
	}
	return ssh.New(DescribeMachine(name, m), here, m.Host(), ssh.Settings{})
}

// DescribeMachine is how plans and messages call a machine: with the user that commands run as, if that is not the one who logs in.
func DescribeMachine(name string, m inventory.Machine) string {
	if m.Become != "" {
		return name + " as " + m.Become
	}
	return name
}
