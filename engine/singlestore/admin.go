package singlestore

import (
	"plimsoll/engine"
	"plimsoll/infra"
)

var _ engine.Administered = Engine{}

// passwordVariable is where sdb-admin and its like look for the password of a database user.
const passwordVariable = "MEMSQL_PASSWORD"

// Tool is sdb-admin, the command of SingleStore's toolbox that changes clusters. It takes the target's password from its
// environment; as user it takes root, whose password it gives to nodes that it makes.
func (Engine) Tool(t engine.Target, args ...string) infra.Command {
	return infra.Command{Path: "sdb-admin", Args: args, Env: []string{passwordVariable + "=" + string(t.Password)}}
}
