// Package retry has Curator's retry policies and a loop that applies them.
//
// A [Policy] says whether and when to try again; [Do] asks it after each failure, waits,
// and tries again. framework.NewClient takes a policy for the operations of a client; Do
// and [DoValue] put work of your own under one.
//
// A retry can repeat an effect. The loop cannot know whether a failed try was applied, so
// retry only what may be applied twice, or what framework.MaybeApplied says was not
// applied. Nor is a wait exact: it lasts at least as long as the policy said.
//
// Policies are stateless values. They are safe for concurrent use, and one may be shared
// by any number of clients and loops.
//
// The loop waits on its context; a policy never sleeps. When the context ends, Do
// returns at once with the last error of the work and the context's.
//
// Loops nest: with the context that Do gave its function, further calls of Do, and with
// them the operations of package framework, run once and leave trying again to the outer
// loop, so that attempts are never multiplied. This ends when the outer Do returns;
// [Detach] ends it earlier, for work that is left to run in the background.
//
// The counterparts in Java are the package org.apache.curator.retry and the classes
// RetryPolicy and RetryLoop. Here nothing sleeps inside of a policy, and the budget of
// nested loops is carried by the context where Java ties it to the thread.
package retry
