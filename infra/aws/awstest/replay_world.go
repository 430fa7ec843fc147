package awstest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra/aws/record"
)

// populate puts into the stand-ins what a recording shows before anything in it was made: instances, clusters with their endpoints, groups
// of parameters, volumes, and what CloudWatch and Performance Insights have.
func (r *replay) populate(calls []record.Call) {
	made := map[string]bool{} // by a call of the recording
	var clusters, endpoints []*record.Node
	switched := false // what a switchover leaves was there under another name
	for _, c := range calls {
		switched = switched || c.Action == "SwitchoverBlueGreenDeployment"
		for _, name := range []string{"DBInstanceIdentifier", "NewDBInstanceIdentifier", "DBClusterIdentifier"} {
			if id := c.Parameters[name]; id != "" && (strings.HasPrefix(c.Action, "Create") || c.Action == "RestoreDBClusterToPointInTime" || name == "NewDBInstanceIdentifier") {
				made[id] = true
			}
		}
		answer, err := record.Parse(c.Body)
		if err != nil || c.Service != "RDS" {
			continue
		}
		answer.All("BlueGreenDeployment", func(n *record.Node) { made[lastOf(n.Of("Target"))] = true })
		if c.Action == "DescribeBlueGreenDeployments" {
			for _, target := range texts(answer, "Target") {
				made[lastOf(target)] = true
			}
		}
		answer.All("DBInstance", func(n *record.Node) {
			if !switched || !strings.HasSuffix(n.Of("DBInstanceIdentifier"), "-old1") {
				r.instance(n, made)
			}
		})
		answer.All("DBCluster", func(n *record.Node) {
			if id := n.Of("DBClusterIdentifier"); !made[id] {
				made[id] = true
				clusters = append(clusters, n)
			}
		})
		answer.All("DBClusterEndpointList", func(n *record.Node) {
			if id := n.Of("DBClusterEndpointIdentifier"); !made[id] {
				made[id] = true
				endpoints = append(endpoints, n)
			}
		})
		if group := c.Parameters["DBParameterGroupName"]; c.Action == "DescribeDBParameters" && !made[group] {
			made[group] = true
			answer.All("Parameter", func(n *record.Node) {
				r.server.ParameterGroups.Add(group, n.Of("ParameterName"), n.Of("ParameterValue"), n.Of("ApplyType") == "static")
			})
		}
	}
	for _, n := range clusters {
		r.cluster(n)
	}
	for _, n := range endpoints {
		r.server.Endpoints.Add(n.Of("DBClusterIdentifier"), n.Of("DBClusterEndpointIdentifier"), texts(under(n, "StaticMembers"), "member")...)
	}
	resources := map[string]string{} // instances by the names that Performance Insights has for them
	for _, c := range calls {
		answer, err := record.Parse(c.Body)
		if err != nil {
			continue
		}
		answer.All("DBInstance", func(n *record.Node) { resources[n.Of("DbiResourceId")] = n.Of("DBInstanceIdentifier") })
		switch c.Action {
		case "GetMetricData":
			r.metrics(c, answer)
		case "GetResourceMetrics":
			r.waits(resources[answer.Of("Identifier")], answer)
		case "CreateVolume":
			made[answer.Of("volumeId")] = true
		case "DescribeInstances":
			answer.All("item", func(n *record.Node) { r.machine(n, made) })
		case "DescribeVolumes":
			answer.All("item", func(n *record.Node) { r.volume(n, made) })
		}
	}
}

// instance puts an instance that is seen for the first time, as it is seen.
func (r *replay) instance(n *record.Node, made map[string]bool) {
	id := n.Of("DBInstanceIdentifier")
	if id == "" || made[id] {
		return
	}
	made[id] = true
	i := Instance{
		ID: id, Class: n.Of("DBInstanceClass"), Engine: n.Of("Engine"), Version: n.Of("EngineVersion"), Type: n.Of("StorageType"),
		GiB: whole(n.Of("AllocatedStorage")), IOPS: whole(n.Of("Iops")), Throughput: whole(n.Of("StorageThroughput")), Tier: whole(n.Of("PromotionTier")),
		Address: n.Of("Endpoint", "Address") + ":" + n.Of("Endpoint", "Port"), Group: n.Of("DBParameterGroups", "DBParameterGroup", "DBParameterGroupName"),
		Source: n.Of("ReadReplicaSourceDBInstanceIdentifier"), Tags: map[string]string{}, Pending: map[string]string{},
	}
	n.All("Tag", func(t *record.Node) { i.Tags[t.Of("Key")] = t.Of("Value") })
	for _, p := range under(n, "PendingModifiedValues").Under {
		i.Pending[p.Name] = p.Text
	}
	if len(i.Pending) == 0 {
		i.Pending = nil
	}
	r.server.Instances.Add(i)
	r.server.Instances.Status(id, n.Of("DBInstanceStatus"))
}

// cluster puts a cluster with those of its members that were there from the beginning, the writer first.
func (r *replay) cluster(n *record.Node) {
	var members []string
	n.All("DBClusterMember", func(m *record.Node) {
		id := m.Of("DBInstanceIdentifier")
		if _, there := r.server.Instances.Shown(id); !there {
			return
		}
		if m.Of("IsClusterWriter") == "true" {
			members = slices.Insert(members, 0, id)
		} else {
			members = append(members, id)
		}
	})
	if len(members) > 0 {
		r.server.Clusters.Add(n.Of("DBClusterIdentifier"), n.Of("Engine"), members...)
	}
}

// metrics puts points at the times at which CloudWatch had some.
func (r *replay) metrics(c record.Call, answer *record.Node) {
	answer.All("MetricDataResults", func(all *record.Node) {
		for _, m := range all.Under {
			n, err := strconv.Atoi(strings.TrimPrefix(m.Of("Id"), "m"))
			of := "MetricDataQueries.member." + strconv.Itoa(n+1) + ".MetricStat.Metric."
			if err != nil {
				continue
			}
			for _, at := range texts(under(m, "Timestamps"), "member") {
				if at, err := time.Parse(time.RFC3339, at); err == nil {
					r.server.Metrics.Put(c.Parameters[of+"Dimensions.member.1.Value"], c.Parameters[of+"MetricName"], at, 0)
				}
			}
		}
	})
}

// waits puts what an instance waited for at the times at which Performance Insights had something.
func (r *replay) waits(instance string, answer *record.Node) {
	for n, list := range under(answer, "MetricList").Under {
		key := under(list, "Key")
		if len(under(key, "Dimensions").Under) == 0 {
			continue // the sum of them
		}
		for _, p := range under(list, "DataPoints").Under {
			if at, err := strconv.ParseFloat(p.Of("Timestamp"), 64); err == nil && p.Of("Value") != "" {
				r.server.Waits.Put(instance, "event "+strconv.Itoa(n), time.Unix(int64(at), 0), 0)
			}
		}
	}
}

// machine puts an instance of EC2 that is seen for the first time.
func (r *replay) machine(n *record.Node, made map[string]bool) {
	id, state := n.Of("instanceId"), n.Of("instanceState", "name")
	if state == "" || made[id] {
		return
	}
	made[id] = true
	r.ec2.AddInstance(EC2Instance{ID: id, Type: n.Of("instanceType"), Zone: n.Of("placement", "availabilityZone"), Address: n.Of("privateIpAddress"), Tags: tagSet(n)})
	r.ec2.Put(id, state)
}

// volume puts a volume that is seen for the first time, attached as it is.
func (r *replay) volume(n *record.Node, made map[string]bool) {
	id := n.Of("volumeId")
	if n.Of("size") == "" || made[id] {
		return
	}
	made[id] = true
	v := &ebs{
		id: id, zone: n.Of("availabilityZone"), kind: n.Of("volumeType"), size: whole(n.Of("size")), iops: whole(n.Of("iops")), throughput: whole(n.Of("throughput")),
		tags: tagSet(n), made: r.ec2.now().Add(-24 * time.Hour), instance: n.Of("attachmentSet", "item", "instanceId"), device: n.Of("attachmentSet", "item", "device"),
		attachment: n.Of("attachmentSet", "item", "status"),
	}
	r.ec2.mu.Lock()
	defer r.ec2.mu.Unlock()
	r.ec2.volumes[id] = v
}

func tagSet(n *record.Node) map[string]string {
	tags := map[string]string{}
	for _, t := range under(n, "tagSet").Under {
		tags[t.Of("key")] = t.Of("value")
	}
	return tags
}

// under is the first node of a name right under another; an empty one where there is none.
func under(n *record.Node, name string) *record.Node {
	for _, u := range n.Under {
		if u.Name == name {
			return u
		}
	}
	return &record.Node{}
}

func whole(text string) int {
	n, _ := strconv.Atoi(text) // none is 0
	return n
}
