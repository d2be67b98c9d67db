// Package retry has Curator's retry policies and a loop that applies them.
//
// A [Policy] says whether and when to try again; [Do] asks it after each failure, waits,
// and tries again. framework.NewClient takes a policy for the operations of a client; Do and
// [DoValue] apply a policy to your own work.
//
// A retry can repeat an effect. The loop cannot know whether a failed try was applied, so retry
// only work that may be applied twice, or after errors for which framework.MaybeApplied is
// false. A wait may last longer than the policy says.
//
// Policies are stateless values. They are safe for concurrent use, and any number of clients
// and loops may share one.
//
// The loop waits on its context; a policy never sleeps. When the context ends, Do immediately
// returns the last error of the work, joined with the context's.
//
// Loops nest. With the context that Do passes to its function, inner calls of Do, and
// operations of package framework, run once, and only the outer loop retries, so attempts are
// never multiplied. This ends when the outer Do returns; [Detach] ends it earlier, for work
// that continues in the background.
//
// The counterparts in Java are the package org.apache.curator.retry and the classes RetryPolicy
// and RetryLoop. In Java policies sleep, and the thread carries the nesting of loops; here the
// context carries it.
package retry
