package bufferpool

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/advise"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var resizeAction = action.Action{
	Name: "mysql.resize-buffer-pool", Version: 1,
	About: "Resizes a node's buffer pool while the server runs (innodb_buffer_pool_size), and waits until it is done.",
	New:   func() action.Task { return &resize{} },
}

// resize changes the size for as long as the server runs.
type resize struct {
	onServer

	Size string `yaml:"size,required" doc:"512M, 64G, or bytes. The server rounds it up to whole chunks."`
}

var (
	_ action.Undoer    = (*resize)(nil)
	_ action.Verifier  = (*resize)(nil)
	_ action.Validator = (*resize)(nil)
)

// leastPool is the smallest pool that servers take.
const leastPool = 5 << 20

func (r *resize) Validate() error {
	n, err := advise.ParseBytes(r.Size)
	if err == nil && n < leastPool {
		err = fmt.Errorf("size is %s, expected 5M or more", r.Size)
	}
	return err
}

func (r *resize) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// Check compares the size that the server has with the one that it would make of what is wanted.
func (r *resize) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	node, err := action.CheckedOn(ctx, on, r.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	f, err := r.on(node).check(ctx, on)
	f.NotePrimary(r.Node, node)
	return f, err
}

func (r *resize) check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	now, err := r.number(ctx, on, "innodb_buffer_pool_size")
	if err != nil {
		return action.CheckResult{}, err
	}
	want, err := r.rounded(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Satisfied, Observed: action.Facts{"bytes": now}, Intended: action.Facts{"bytes": want}}
	done, err := r.has(ctx, on, want)
	if err != nil || done {
		return f, err
	}
	f.State = action.Needed
	return f, r.room(ctx, on, want-now)
}

// room refuses to take memory that the machine does not have free, as far as the machine is known.
func (r *resize) room(ctx context.Context, on *cluster.Cluster, more int64) error {
	node, err := on.Node(ctx, r.Node)
	if err != nil || node.Machine == nil || more <= 0 {
		return err
	}
	dir := node.Data
	if dir == "" {
		dir = "/"
	}
	space, err := node.Machine.Space(ctx, dir)
	if err != nil {
		return fmt.Errorf("ask the machine of %s for its memory: %w", node.Name, err)
	}
	if space.MemoryFree < more {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("the machine of %s has %s of memory free, but the pool would need %s more", node.Name, size(float64(space.MemoryFree)), size(float64(more))),
			Advice: "the kernel kills a server that runs out of memory: choose a smaller size",
		}
	}
	return nil
}

func (r *resize) number(ctx context.Context, on *cluster.Cluster, variable string) (int64, error) {
	text, err := on.Value(ctx, r.Node, admin.Global(variable))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// rounded is the size that the server makes of the wanted one: whole chunks for each of its instances.
func (r *resize) rounded(ctx context.Context, on *cluster.Cluster) (int64, error) {
	want, err := advise.ParseBytes(r.Size)
	if err != nil {
		return 0, err
	}
	unit, instances := int64(1<<20), int64(1)
	for name, into := range map[string]*int64{"innodb_buffer_pool_chunk_size": &unit, "innodb_buffer_pool_instances": &instances} {
		row, err := on.Row(ctx, r.Node, admin.Variables(name))
		if err != nil {
			return 0, err
		}
		if len(row) < 2 {
			continue // a MariaDB that has no such thing any more
		}
		if n, err := strconv.ParseInt(row[1], 10, 64); err == nil && n > 0 {
			*into = n
		}
	}
	unit *= instances
	return (want + unit - 1) / unit * unit, nil
}

// has tells whether the pool has a size: the setting says so at once, its pages when it is done.
func (r *resize) has(ctx context.Context, on *cluster.Cluster, want int64) (bool, error) {
	set, err := r.number(ctx, on, "innodb_buffer_pool_size")
	if err != nil || set != want {
		return false, err
	}
	page, err := r.number(ctx, on, "innodb_page_size")
	if err != nil {
		return false, err
	}
	row, err := on.Row(ctx, r.Node, admin.Status("Innodb_buffer_pool_pages_total"))
	if err != nil || len(row) < 2 {
		return false, err
	}
	pages, err := strconv.ParseInt(row[1], 10, 64)
	bytes := pages * page
	return err == nil && bytes <= want && bytes >= want-want/20, err // the pages' own descriptions take some of it
}

// on is the same size for a given node.
func (r *resize) on(node string) *resize {
	at := *r
	at.Node = node
	return &at
}

func (r *resize) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	node, err := c.ActsOn(ctx, on, r.Node)
	if err != nil {
		return nil, err
	}
	at := r.on(node)
	want, err := at.rounded(ctx, on)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := at.set(ctx, on, want, c); err != nil {
		return nil, err
	}
	return action.Facts{"bytes": want, "seconds": time.Since(began).Seconds()}, nil
}

// set gives the order and waits until the pool has the size. It repeats the order until the server has taken it: while an earlier
// resize is still ending, MySQL only warns (3166, another buffer pool resize is already in progress) and forgets the new size.
func (r *resize) set(ctx context.Context, on *cluster.Cluster, want int64, c action.Call) error {
	order := admin.SetGlobal("innodb_buffer_pool_size", strconv.FormatInt(want, 10))
	taken := false
	return poll.Until(ctx, 100*time.Millisecond, func() (string, error) {
		now, err := r.number(ctx, on, "innodb_buffer_pool_size")
		if err != nil {
			return "", err
		}
		switch {
		case now == want:
			taken = true
			if done, err := r.has(ctx, on, want); err != nil || done {
				return "", err
			}
		case taken:
			return "", &hint.PermanentError{
				Reason: fmt.Sprintf("the server took the size %s, and has %s now; %s", size(float64(want)), size(float64(now)), r.stands(ctx, on)),
				Advice: "either it could not get the memory, or somebody else set innodb_buffer_pool_size: its error log says which",
			}
		default:
			if err := on.Execute(ctx, r.Node, []string{order}, func(int) {}); err != nil {
				return "", err
			}
		}
		stands := r.stands(ctx, on)
		if c.Progress != nil {
			c.Progress(-1, stands)
		}
		return stands, nil
	})
}

// stands says how the resize goes, in the server's own words where it has some.
func (r *resize) stands(ctx context.Context, on *cluster.Cluster) string {
	const resizes = "the server resizes its pool"
	row, err := on.Row(ctx, r.Node, admin.Status("Innodb_buffer_pool_resize_status"))
	if err != nil || len(row) < 2 || row[1] == "" {
		return resizes
	}
	return resizes + ": " + strings.TrimSuffix(row[1], ".")
}

// Verify looks that the pool still has the size.
func (r *resize) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	want, err := r.rounded(ctx, on)
	if err != nil {
		return err
	}
	done, err := r.has(ctx, on, want)
	if err == nil && !done {
		err = fmt.Errorf("the pool does not have the size %d", want)
	}
	return err
}

// Undo gives the pool the size that the first check saw, on the server that it saw it on. A size that was changed since stays.
func (r *resize) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := bytesIn(c.Before)
	if !ok {
		return nil
	}
	node, err := c.ActedOn(r.Node)
	if err != nil {
		return err
	}
	at := r.on(node)
	if left, ended := bytesIn(c.Output); ended {
		now, err := at.number(ctx, on, "innodb_buffer_pool_size")
		if err != nil {
			return err
		}
		if now != left && now != before {
			return action.ChangedSince("the size of the buffer pool of node "+node, size(float64(now)), size(float64(left)), size(float64(before)))
		}
	}
	return at.set(ctx, on, before, c)
}

// bytesIn is the size in facts, which may have been through a journal.
func bytesIn(f action.Facts) (int64, bool) {
	switch n := f["bytes"].(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	}
	return 0, false
}
