package load

import "sync"

// ballast is memory that nobody touches. The collector runs when the heap has doubled: with a few MiB in use that would be
// every few hundred operations of a driver that allocates, at a third of its processor time. It takes address space and no memory;
// the heap of such a driver grows by as much between two collections.
var ballast = sync.OnceValue(func() []byte { return make([]byte, 32<<20) })
