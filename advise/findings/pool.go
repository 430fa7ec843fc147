package findings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/advise"
	"plimsoll/advise/price"
)

// poolOf is the buffer pool that an instance of a class has by default.
func (in Input) poolOf(class string) int64 {
	return int64(in.Prices.Classes[class].GiB * poolShare * (1 << 30))
}

// pools are other sizes of the buffer pool on the class that there is, which cost nothing.
type pools struct{ Input }

// options are the size that the class has by default, and those that were asked for. A sentence names those that its memory does not hold. On Aurora
// the pool comes with the class.
func (in pools) options() (all []advise.Option, left []string) {
	if in.Aurora != nil {
		return nil, nil
	}
	now, usual := in.Memory.Bytes, in.poolOf(in.Class)
	const near = 0.05 // servers round sizes, and RDS keeps some memory for itself
	var sizes, tooLarge []int64
	if math.Abs(float64(usual-now)) > near*float64(usual) {
		sizes = append(sizes, usual)
	}
	for _, bytes := range in.Asked {
		switch {
		case bytes == now:
		case bytes > max(usual, now):
			tooLarge = append(tooLarge, bytes)
		default:
			sizes = append(sizes, bytes)
		}
	}
	for _, bytes := range sorted(sizes) {
		if p, known := in.at(bytes); known {
			all = append(all, in.of(p))
		}
	}
	if len(all) > 0 && in.managed() && in.RDS {
		left = append(left, "No rehearsal is named for another size of the buffer pool, since a lab has no parameter group: the plan of rds/set-parameter says which rehearsal it needs.")
	}
	if len(tooLarge) > 0 {
		var names []string
		for _, bytes := range sorted(tooLarge) {
			names = append(names, size(bytes))
		}
		left = append(left, fmt.Sprintf("Not listed, since %s keeps %s of its %.0f GiB for the buffer pool by default: a buffer pool of %s.", in.Class, size(usual), in.Prices.Classes[in.Class].GiB, strings.Join(names, ", ")))
	}
	return all, left
}

func sorted(sizes []int64) []int64 {
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// at is the prediction at a size: that for it if it was asked for, else between the points of the drawn curve.
func (in pools) at(bytes int64) (advise.Point, bool) {
	if i := slices.IndexFunc(in.Memory.Curve.Points, func(p advise.Point) bool { return p.Bytes == bytes }); i >= 0 {
		return in.Memory.Curve.Points[i], true
	}
	return at(in.Memory, bytes)
}

// of is another size of the buffer pool on the same class.
func (in pools) of(p advise.Point) advise.Option {
	o := in.resize(p)
	o.Price, o.Change = in.now(), in.free()
	if p.Bytes > in.Memory.Bytes {
		o.Risk = "other programs on the machine must leave this memory free; if it swaps, the server stalls"
	}
	if in.managed() {
		value := strconv.FormatInt(p.Bytes, 10)
		o.Do, o.Rehearse = in.setParameter("innodb_buffer_pool_size", value), ""
		if p.Bytes > in.Memory.Bytes {
			o.Risk = "what connections and temporary tables need must fit beside it: watch FreeableMemory"
		}
		if o.Do == "" {
			o.Risk += "; set by innodb_buffer_pool_size=" + value + " in the parameter group"
		}
	}
	return o
}

// managed tells whether the server is RDS's or Aurora's. A lab's is one's own, whatever class it is compared with.
func (in pools) managed() bool {
	return in.Lab == nil && (in.RDS || in.Aurora != nil || price.Managed(in.Class))
}

// setParameter plans a change of the parameter group; "": the inventory does not name the instance, and no runbook can.
func (in pools) setParameter(name, value string) string {
	if !in.RDS {
		return ""
	}
	return fmt.Sprintf("plimsoll runbook plan rds/set-parameter --cluster %s -i node=%s -i name=%s -i value=%s", in.Cluster, in.Node, name, value)
}
