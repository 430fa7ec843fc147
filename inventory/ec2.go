package inventory

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/document"
)

// EC2 says which instance a machine is.
type EC2 struct {
	ID      string            `yaml:"id" doc:"The instance's id, such as i-0123456789abcdef0."`
	Tags    map[string]string `yaml:"tags" doc:"In place of id: tags that only this instance has (terminated ones do not count), such as {Name: db-a}."`
	Region  string            `yaml:"region" doc:"The region, such as ap-northeast-2. Default: the cluster's aws: region, otherwise from the configuration of the AWS command line."`
	Profile string            `yaml:"profile" doc:"The profile of the AWS command line. Default: the cluster's, otherwise its default profile."`
}

// String is how lists and messages call the instance: its id, or the tags by which it is found.
func (e EC2) String() string {
	if e.ID != "" {
		return e.ID
	}
	var all []string
	for _, key := range document.SortedKeys(e.Tags) {
		all = append(all, key+"="+e.Tags[key])
	}
	return strings.Join(all, ",")
}

// Volume says which volume of the provider is meant by a name.
type Volume struct {
	ID   string            `yaml:"id" doc:"The volume's id, such as vol-0123456789abcdef0."`
	Tags map[string]string `yaml:"tags" doc:"In place of id: tags that only this volume has."`
}

var (
	instanceID = regexp.MustCompile(`^i-[0-9a-f]{8,17}$`)
	volumeID   = regexp.MustCompile(`^vol-[0-9a-f]{8,17}$`)
)

func (e EC2) check(n *document.Node, ps *document.Problems) {
	oneOf(n, e.ID, e.Tags, ps)
	if e.ID != "" && !instanceID.MatchString(e.ID) {
		ps.Add(n, n.Get("id").Errorf("%q, expected the id of an instance, such as i-0123456789abcdef0", e.ID))
	}
}

func (v Volume) check(n *document.Node, ps *document.Problems) {
	oneOf(n, v.ID, v.Tags, ps)
	if v.ID != "" && !volumeID.MatchString(v.ID) {
		ps.Add(n, n.Get("id").Errorf("%q, expected the id of a volume, such as vol-0123456789abcdef0", v.ID))
	}
}

func oneOf(n *document.Node, id string, tags map[string]string, ps *document.Problems) {
	if (id == "") == (len(tags) == 0) {
		ps.Add(n, n.Errorf("expected one of id and tags"))
	}
}

// checkEC2 refuses nodes whose instances stand in several regions or accounts: a cluster has one provider of volumes.
func (c Cluster) checkEC2(n *document.Node, ps *document.Problems) {
	first := ""
	for i, node := range c.Nodes {
		at := n.Get("nodes").Items[i]
		for _, name := range document.SortedKeys(node.Volumes) {
			node.Volumes[name].check(at.Get("volumes").Get(name), ps)
		}
		is, ok := c.InstanceOf(node)
		if !ok {
			if len(node.Volumes) > 0 {
				ps.Add(at, at.Get("volumes").Errorf("volumes without a machine that is an EC2 instance").WithHint("machines: {NAME: {ssh: HOST, ec2: {id: i-…}}}"))
			}
			continue
		}
		where := is.Region + " " + is.Profile
		if first == "" {
			first = where
		}
		if where != first {
			ps.Add(at, at.Errorf("its instance is in another region or account than the previous ones: %s, not %s", strings.TrimSpace(where), strings.TrimSpace(first)))
		}
	}
}

// InstanceOf says which instance of EC2 a node's machine is, where that is said, with the region and profile of its cluster.
func (c Cluster) InstanceOf(n Node) (EC2, bool) {
	m, known := c.MachineOf(n)
	if !known || m.EC2 == nil {
		return EC2{}, false
	}
	is := *m.EC2
	if c.AWS != nil {
		if is.Region == "" {
			is.Region = c.AWS.Region
		}
		if is.Profile == "" {
			is.Profile = c.AWS.Profile
		}
	}
	return is, true
}

// OnEC2 are the nodes whose machines are instances of EC2.
func (c Cluster) OnEC2() []Node {
	return slices.DeleteFunc(slices.Clone(c.Nodes), func(n Node) bool { _, is := c.InstanceOf(n); return !is })
}
