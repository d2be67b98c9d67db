// Package chaos runs recipes on a real ensemble while it and its clients are attacked, and judges
// what the clients have noted:
//
//	make chaos SEED=7 DURATION=10m
//
// Workers are processes of their own, in Go, in Java with Curator and in Python with kazoo. A
// nemesis kills, stops and cuts off servers and workers, ends sessions and deletes nodes, by
// chance from a seed. Everything is noted on one clock, and package check looks for what must not
// be: two who believe at once, tokens that fall, changes that are lost, waiters who are forgotten,
// nodes and goroutines that are left. docs/robustness.md says what is run and what was found.
//
// The parts: history, the events and their clock; worker, the processes in Go; fleet, which runs
// all processes; nemesis, which attacks; store, a resource that checks fencing tokens; wallclock,
// which steps the wall clocks of processes; check, which judges; txnlog, which reads what the servers
// have committed; replay, which looks for the run among the paths of internal/verify/model. This package
// puts them together.
package chaos
