package cluster

// view is a server or host that stands for another one and shows only part of it.
type view interface {
	behind() any
}

// Can tells whether a server or host has an optional interface: a view, whether what stands behind it has that, even if the view itself
// refuses to do it. A plan refuses by it what its act would refuse.
func Can[T any](x any) bool {
	if v, is := x.(view); is {
		return Can[T](v.behind())
	}
	_, has := x.(T)
	return has
}

// As returns a server or host as one of the optional interfaces, and whether it has that. A view has an interface only if what stands
// behind it has it, whichever methods the view's own type has.
func As[T any](x any) (as T, ok bool) {
	if !Can[T](x) {
		return as, false
	}
	as, ok = x.(T)
	return as, ok
}
