package engine

// View is a database that stands for another one and shows only part of it.
type View interface {
	// Has asks something of the database behind.
	Has(is func(Database) bool) bool
}

// As is a database, by whichever of its interfaces it is known, as one of the optional interfaces, if it has that. A view answers for the database behind it, whose questions it has
// methods for in any case.
func As[T any](db any) (as T, ok bool) {
	v, isView := db.(View)
	if isView && !v.Has(func(behind Database) bool { _, has := As[T](behind); return has }) {
		return as, false
	}
	as, ok = db.(T)
	return as, ok
}
