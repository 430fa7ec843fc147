package foresee

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/infra"
	"plimsoll/lab"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// replicas is how many nodes of a ring keep each row, where it has as many.
const replicas = 3

// localVolume is the volume of a lab's machine that holds the data.
const localVolume, localSize = "local", 4 << 30

// RoomForData compares the data that a trial loads with what is free where labs keep theirs. What the rows alone would fill is refused;
// the copy of the data from which cells start, and the binary log, are told of.
func RoomForData(ctx context.Context, t *spec.Trial, machine infra.Machine, home string) []Foreseen {
	if t.Existing != nil { // its data is there
		return nil
	}
	var all []Foreseen
	var rows, most int64
	packed := false
	var seen []string
	for _, c := range t.Cells {
		measured, can := c.Workload.(workload.Tables)
		if !can || slices.Contains(seen, c.Data) {
			continue
		}
		seen = append(seen, c.Data)
		each := measured.DataBytes()
		of := each * copiesOf(t, c)
		rows, most, packed = rows+of, most+of, packed || c.Ring
		if t.Phases.Restore != spec.RestoreNever {
			most += of
		}
		if !c.Ring { // every row stands in the binary log too
			most += of
		}
		all = append(all, roomInMachine(c, each)...)
	}
	space, err := machine.Space(ctx, home)
	switch f := (Foreseen{Of: "disk", Do: "free some space, set PLIMSOLL_HOME to a larger disk, or load less: lower the workload's scale"}); {
	case err != nil:
	case rows > space.DiskFree && !packed: // Cassandra compresses its rows
		f.Why, f.Must = fmt.Sprintf("the rows of this trial alone take about %s, and %s is free in %s", lab.SizeText(rows), lab.SizeText(space.DiskFree), home), true
		all = append(all, f)
	case most > space.DiskFree:
		f.Why = fmt.Sprintf("the data of this trial may take up to %s with its copy and the binary log, and %s is free in %s", lab.SizeText(most), lab.SizeText(space.DiskFree), home)
		all = append(all, f)
	}
	return all
}

// copiesOf is how often the nodes of a data set hold its rows.
func copiesOf(t *spec.Trial, c *spec.Cell) int64 {
	nodes := 1
	for _, other := range t.Cells {
		if other.Data == c.Data {
			nodes = max(nodes, other.Cluster.Nodes)
		}
	}
	switch {
	case c.Ring:
		return int64(min(nodes, replicas))
	case c.Cluster.Topology == spec.Separate:
		return int64(max(1, len(c.Load.On)))
	}
	return int64(nodes)
}

// roomInMachine refuses data that the volume of a node's own machine cannot hold.
func roomInMachine(c *spec.Cell, bytes int64) []Foreseen {
	machines := c.Cluster.Machines
	if machines == nil || c.Ring {
		return nil
	}
	size := int64(localSize)
	if v, is := machines.Volumes[localVolume]; is {
		size = int64(v.Size)
	}
	if bytes < size {
		return nil
	}
	return []Foreseen{{
		Of: "volume " + localVolume, Must: true,
		Why: fmt.Sprintf("the rows of this trial alone take about %s on each node, and the volume has %s", lab.SizeText(bytes), lab.SizeText(size)),
		Do:  "make the volume larger under cluster.machines.volumes, or load less: lower the workload's scale",
	}}
}
