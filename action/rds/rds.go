// Package rds changes databases that run at AWS: instances of RDS and clusters of Aurora. What was done is told by properties, by what
// is still pending, and by the server itself over SQL; never by a status alone, nor by an accepted request.
package rds

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

// Open reaches the API of an account and region.
type Open func(ctx context.Context, at cluster.AWS) (*aws.RDS, error)

// DefaultEvery is the time between two looks at an instance. A change takes minutes, and AWS throttles a whole account.
const DefaultEvery = 10 * time.Second

// MayTakeWrites refuses to have a node take writes when its cluster has, or may have, another primary.
type MayTakeWrites func(ctx context.Context, on *cluster.Cluster, node string, c action.Call) error

// Claims are those on clusters, which are kept in the clusters themselves: a copy of a cluster has a copy of its claim.
type Claims interface {
	// Holder is the run whose claim a database has; "" if it has none.
	Holder(ctx context.Context, in engine.Database) (run string, err error)
	// Forget releases the claim of a run in a copy of the cluster that the run has claimed.
	Forget(ctx context.Context, in engine.Database, run string) error
}

// Actions lists what can be done to RDS and Aurora.
func Actions(open Open, every time.Duration, may MayTakeWrites, claims Claims) []action.Action {
	at := api{open, every, may, claims}
	return []action.Action{
		modifyClass(at), modifyStorage(at), setParameter(at), reboot(at), createReplica(at), promote(at), createBlueGreen(at), switchBlueGreen(at), backBlueGreen(at),
		auroraFailover(at), auroraAddReader(at), auroraServe(at), auroraClone(at), auroraDeleteClone(at), auroraDeleteExpiredClones(at),
	}
}

// api is how actions reach RDS.
type api struct {
	open   Open
	every  time.Duration
	may    MayTakeWrites
	claims Claims
}

// of reaches the API where a cluster runs.
func (a api) of(ctx context.Context, on *cluster.Cluster) (*aws.RDS, error) {
	if on.AWS == nil {
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know in which AWS region cluster %s runs", on.Name),
			Advice: "set it in plimsoll.yaml: aws: {region: ap-northeast-2}, and instance: NAME for each node",
		}
	}
	return a.open(ctx, *on.AWS)
}

// onInstance is what acts on one instance.
type onInstance struct {
	Node string `yaml:"node,required" doc:"The node whose instance it is."`

	api api
}

// id is the instance of the node.
func (o onInstance) id(ctx context.Context, on *cluster.Cluster) (string, error) {
	n, err := on.Node(ctx, o.Node)
	if err != nil {
		return "", err
	}
	if n.Instance == "" {
		return "", &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know which instance of RDS node %s is", n.Name),
			Advice: "write instance: NAME under the node in plimsoll.yaml",
		}
	}
	return n.Instance, nil
}

// find returns the instance as it is, and refuses one that waits for a person.
func (o onInstance) find(ctx context.Context, on *cluster.Cluster) (*aws.RDS, aws.Instance, error) {
	r, err := o.api.of(ctx, on)
	if err != nil {
		return nil, aws.Instance{}, err
	}
	id, err := o.id(ctx, on)
	if err != nil {
		return nil, aws.Instance{}, err
	}
	i, err := r.Instance(ctx, id)
	if err != nil {
		return nil, i, err
	}
	return r, i, i.Usable()
}

// foreign refuses an instance for which other changes wait than those named: a change that is made now makes them too.
func foreign(i aws.Instance, own ...string) error {
	var others []string
	for _, name := range slices.Sorted(maps.Keys(i.Pending)) {
		if !slices.Contains(own, name) {
			others = append(others, name+" "+i.Pending[name])
		}
	}
	if len(others) == 0 {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("instance %s has pending changes for its maintenance window, and a change now would apply them too: %s", i.ID, strings.Join(others, ", ")),
		Advice: "apply them on purpose or revert them first: aws rds modify-db-instance --db-instance-identifier " + i.ID + ", with the option of each and --apply-immediately",
	}
}

// await looks at an instance until want says that it is as it should be and nothing is being done to it any more.
func (a api) await(ctx context.Context, r *aws.RDS, id string, c action.Call, want func(aws.Instance) (waitsFor string)) error {
	return a.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		i, err := r.Instance(ctx, id)
		if err == nil {
			err = i.Usable()
		}
		if err != nil {
			return false, "", err
		}
		if waits := want(i); waits != "" {
			return false, waits, nil
		}
		if !i.Settled() {
			return false, fmt.Sprintf("instance %s, which is %s", id, i.Status), nil
		}
		return true, "", nil
	})
}

// look is aws.Await at the pace that the cluster names, or at the usual one, with its progress told.
func (a api) look(ctx context.Context, r *aws.RDS, c action.Call, look aws.Look) error {
	return aws.Await(ctx, cmp.Or(r.Every, a.every), func(waits string) { c.Progress(-1, "waiting for "+waits) }, look)
}

// answers asks the server of a node by SQL.
func answers(ctx context.Context, on *cluster.Cluster, node string) error {
	db, err := on.Database(ctx, node)
	if err != nil {
		return fmt.Errorf("ask node %s: %w", node, err)
	}
	if _, err := db.Facts(ctx); err != nil {
		return fmt.Errorf("ask node %s: %w", node, err)
	}
	return nil
}

// setting reads a variable of a node's server.
func setting(ctx context.Context, on *cluster.Cluster, node, name string) (string, engine.Configurable, error) {
	db, err := on.Database(ctx, node)
	if err != nil {
		return "", nil, err
	}
	c, ok := engine.As[engine.Configurable](db)
	if !ok {
		return "", nil, fmt.Errorf("node %s does not show its settings", node)
	}
	value, err := c.Setting(ctx, name)
	return value, c, err
}

// settle waits for a change that a Plimsoll began that is not there any more: until none of these values is pending and nothing is
// being done to the instance.
func (o onInstance) settle(ctx context.Context, on *cluster.Cluster, c action.Call, own ...string) error {
	r, i, err := o.find(ctx, on)
	if err != nil {
		return err
	}
	return o.api.await(ctx, r, i.ID, c, func(now aws.Instance) string {
		for _, name := range own {
			if value := now.Pending[name]; value != "" {
				return fmt.Sprintf("%s %s of instance %s", name, value, now.ID)
			}
		}
		return ""
	})
}
