package rehearsal

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/hint"
	"plimsoll/runbook/journal"
)

// disks are what the lab of a runbook that works on disks is like: a machine with volumes for the node that it works on, and what is done
// there before the load begins, so that the runbook finds what it needs.
type disks struct {
	volumes []string          // beside local, which has the data
	prepare []string          // calls of the trial's prepare; NODE is the node in the lab
	places  map[string]string // the lab's own, by the inputs that name them
}

// nodeInput is the input of these runbooks that names the node.
const nodeInput = "node"

// Where the lab's nodes have their data, whether on a disk or on an array; and where an array without a server is mounted.
const (
	dataMount  = "/mnt/data"
	otherMount = "/mnt/superdisk"
)

// Each volume of a machine has so much: the tables of a rehearsal are small, and a copy of all of a disk takes its time.
const volumeSize = "2G"

// toArray has the node serve from a Super Disk.
const toArray = "{run: superdisk/migrate, with: {node: NODE, local: local, network: network, mount: " + dataMount + "}, approve: true}"

// onDisks are the shipped runbooks that a lab's machines can be made ready for.
var onDisks = map[string]disks{
	"superdisk/migrate": {volumes: []string{"network"}, places: map[string]string{"local": "local", "network": "network", "mount": dataMount}},
	"superdisk/create": {volumes: []string{"blank", "network"},
		places: map[string]string{"local": "blank", "network": "network", "mount": otherMount}},
	"superdisk/detach-network": {volumes: []string{"network"}, prepare: []string{toArray}},
	"superdisk/reattach-network": {volumes: []string{"network"}, prepare: []string{toArray, "{run: superdisk/detach-network, with: {node: NODE}}"},
		places: map[string]string{"network": "network"}},
	"superdisk/check": {volumes: []string{"network"}, prepare: []string{toArray}},
	"superdisk/rebuild": {volumes: []string{"fresh", "network"}, prepare: []string{toArray, "{run: superdisk.detach, with: {node: NODE, leg: local}, approve: true}"},
		places: map[string]string{"local": "fresh"}},
}

// notOnDisks says of the other shipped ones why no lab is made ready for them, and which example rehearses them; without a ring, and on one.
var notOnDisks = map[string]struct{ why, example, onRing string }{
	"superdisk/replace-node":    {"it needs a second machine for the node, which plays no part in the cluster yet", "superdisk-replace-node", "superdisk-cassandra-replace-node"},
	"superdisk/recover-node":    {"the machine of the node has to be lost first, under load", "superdisk-instance-lost", "superdisk-cassandra-instance-lost"},
	"superdisk/emergency-start": {"the machine of the node has to be lost first, under load", "superdisk-emergency-start", "superdisk-cassandra-emergency-start"},
	"superdisk/give-up-hung":    {"the network leg has to hang first, under load", "superdisk-hung-leg", "superdisk-cassandra-hung-leg"},
	"superdisk/start":           {"the UUID of the lab's array is known only once the array is there", "", ""},
	"superdisk/retire":          {"the UUID of the lab's array is known only once the array is there", "", ""},
}

// disksOf is what the lab needs for the disks of a runbook; nil if it works on none.
func (p Plan) disksOf(h journal.Header) *disks {
	if d, ready := onDisks[h.Runbook]; ready && p.ships() {
		return &d
	}
	return nil
}

// ships tells a shipped runbook from a file that has its name.
func (p Plan) ships() bool { return p.Path == p.Prepared.Header.Runbook }

// Unready refuses a runbook that works on disks and for which no lab can be made ready; it may be that it cannot be planned on the target
// today either, as a start after the loss of a machine.
func (p Plan) Unready() error {
	h := p.Prepared.Header
	if not, is := notOnDisks[h.Runbook]; is && p.ships() {
		return hint.With(fmt.Errorf("%s has no lab that Plimsoll makes by itself: %s", h.Runbook, not.why), p.byExample(h, not.example, not.onRing))
	}
	if p.disksOf(h) != nil || !slices.ContainsFunc(h.Plan.Steps, func(s journal.PlanStep) bool { return onMachine(s.Uses) }) {
		return nil
	}
	return hint.With(fmt.Errorf("%s has no lab with machines that Plimsoll makes by itself: what its disks must be like beforehand, it cannot know", h.Runbook),
		p.byHand("write a trial with cluster: {machines: {volumes: …}}, and what has to be there first in its prepare, as examples/superdisk-detach/trial.yaml has it"))
}

// onMachine tells whether an action works on disks, volumes or machines, which a lab has only where it is made with machines.
func onMachine(uses string) bool {
	family, _, _ := strings.Cut(uses, ".")
	return slices.Contains([]string{"superdisk", "volume", "machine"}, family)
}

// byExample advises the trial that ships: as a whole command, with the target's product, minor version and class of cluster.
func (p Plan) byExample(h journal.Header, example, onRing string) string {
	product, version, err := p.release(h)
	if err != nil {
		return hint.Of(err)
	}
	if product == "cassandra" { // its examples have a machine for the third node
		if example = onRing; h.Topology != "many" {
			example = ""
		}
	}
	if example == "" {
		return p.byHand("write a trial whose prepare makes the array, such as examples/superdisk-detach/trial.yaml, with the UUID that a first run of it shows")
	}
	nodes := map[string]int{"single": 1, "pair": 2, "many": 3}[h.Topology]
	return fmt.Sprintf("the trial that ships for it has that; each that passes is a rehearsal: "+
		"plimsoll trial run examples/%s/trial.yaml --set cluster.engine=%s --set cluster.version=%s --set cluster.nodes=%d", example, product, version, max(nodes, 1))
}

// lines are those of the trial that make the lab ready for a node.
func (d disks) lines(node string) (machines string, prepare []string) {
	volumes := []string{"local: " + volumeSize}
	for _, name := range d.volumes {
		volumes = append(volumes, name+": "+volumeSize)
	}
	for _, call := range d.prepare {
		prepare = append(prepare, "  - "+strings.ReplaceAll(call, "NODE", node))
	}
	return fmt.Sprintf("  machines: {on: [%s], volumes: {%s}}", node, strings.Join(volumes, ", ")), prepare
}
