// Package layout has the names of the nodes of every recipe, their order, and what some of them contain,
// as Java Curator 5 and this module write them. The recipes, and the programs that list them, make and read
// names by this package. Those of migrations are made there.
//
//	DIR/_c_UUID-lock-NUMBER           mutex, leader selector, InterProcessSemaphore   lock.go
//	DIR/_c_UUID-latch-NUMBER          leader latch                                    lock.go
//	DIR/_c_UUID-__READ__NUMBER        reader                                          lock.go
//	DIR/_c_UUID-__WRIT__NUMBER        writer                                          lock.go
//	DIR/leases/_c_UUID-lease-NUMBER   a lease of Java's semaphore                     semaphore.go
//	DIR/locks/_c_UUID-lock-NUMBER     mutex, held while a lease is taken              semaphore.go
//	DIR/queue-NUMBER                  item of a queue                                 queue.go
//	DIR/queue-PPPPPPPPPNUMBER         item with a priority                            queue.go
//	DIR/queue-|TIME|NUMBER            item with a time                                queue.go
//	DIR/queue-|ID|NUMBER              item with an id                                 queue.go
//	DIR/qn-NUMBER                     item of a SimpleDistributedQueue                queue.go
//	LOCKS/queue-...                   lock node of an item, ephemeral                 queue.go
//	DIR/UUID, DIR/ready               member of a double barrier; it is open          members.go
//	DIR/ID                            member of a group, instance of a service        members.go
//	HEX__lock__NUMBER                 contender of a lock of kazoo, which is foreign  classify.go
//
// NUMBER is the server's: see [Number]. UUID is that of protection: see [Protected].
//
// The functions do no I/O, change nothing, and are safe for concurrent use. Only [NewUUID] is random.
// Every text may be the name of a node, because every client can create nodes. Two kinds of nodes may
// have the same names: the documentation of a function says which kind it returns then.
package layout
