// Package worker is a process that uses the recipes while somebody attacks it and its servers,
// and notes on its standard output what it asks for, what it is granted, and what it believes.
//
// What counts as belief is certain: a worker reads the clock, then asks the lease whether it is
// believed, and if so notes the time that it has read. So two workers that note beliefs which
// exclude each other did believe at the same instant, however slow the machine is, and even if
// they were stopped in between.
//
// The files:
//
//	run.go       a worker from its start to its end
//	worker.go    what all workloads use
//	hold.go      one acquisition: from the call to the end of its release
//	settings.go  what a worker is told
//	registers.go texts that are changed under a lease
//	names.go, workloads.go  the workloads and their names
//	mutexes.go, shared.go, leaders.go, queues.go, barriers.go, caches.go  the workloads
//	remains.go   what is left at the end
package worker
