package engine

// View is a database that stands for another one and shows only part of it.
type View interface {
	// Has asks something of the database behind.
	Has(is func(Database) bool) bool
}

// As returns a database as one of the optional interfaces, and whether it has that. A View has an interface only if the database behind it
// has it, whichever methods the view's own type has.
func As[T any](db any) (as T, ok bool) {
	v, isView := db.(View)
	if isView && !v.Has(func(behind Database) bool { _, has := As[T](behind); return has }) {
		return as, false
	}
	as, ok = db.(T)
	return as, ok
}
