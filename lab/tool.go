package lab

import (
	"fmt"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Tool is the command that has the engine's own tool, such as nodetool, do something with a node.
func (c *Cluster) Tool(node string, args ...string) (infra.Command, error) {
	tooled, ok := c.launcher.(engine.Tooled)
	if !ok {
		return infra.Command{}, fmt.Errorf("servers of %s have no client of their own", c.record.Dist.Product)
	}
	members, err := c.pick([]string{node})
	if err != nil {
		return infra.Command{}, err
	}
	return tooled.Tool(members[0].Node, args...), nil
}
