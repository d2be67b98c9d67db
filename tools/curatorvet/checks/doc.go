// Package checks has the checks of curatorvet, as analyzers of golang.org/x/tools/go/analysis:
//
//	outercontext      a context from outside is used in the function of locks.Do
//	ignoredcontext    the function of locks.Do ignores its context
//	droppedlease      the lease that Acquire returned is not kept
//	unfinishedbuilder an operation without its terminal, which sends nothing
//	deferredrelease   defer lease.Release in a loop
//	cacheddecision    a write without a version, decided on a cached value
//	leadershipnil     Leadership() compared with nil, and Err not asked
//
// They check one package at a time, and only its source. They are written to avoid false
// alarms, and do not find every mistake: they do not follow a value through a field, a channel
// or another function. A program without findings may still have the mistakes.
//
// Only unfinishedbuilder checks test files: tests often make the other mistakes on purpose, and
// the clients of tools/curatortest fail a test that does not release a lease.
//
// A comment on the line of a finding, or on the line above it, silences it. It must have a reason:
//
//	//curatorvet:ignore droppedlease the process ends with the lock
//
// Analyzers have no state, and may be used by several goroutines.
package checks
