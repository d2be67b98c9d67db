// Package sequences has one test of all components: what happens to each of them in every short sequence of
// steps. It has no code of its own.
//
// # Steps and sequences
//
// A step is something that the session layer tells a component, or that a user does: a request is answered, or
// fails with its connection although it was sent, or because it was never sent; an event; WatchReset, behind a
// change that was missed; Suspended; Connected; the end of the session; a call of a user, and one in which a
// user's function panics; the end of the contexts; Close; the Close of the client. One function, legal, says what a
// connection can tell, in which order. It is tested against recordings of the real session layer, and it refuses
// what cannot be.
//
// The generator makes every sequence that a connection can bring about which is good at the beginning. A step brings
// about what must come before it: a lost reply ends the connection, Connected resets the watches.
//
// There are 11 sequences of length 1, 103 of length 2 and 889 of length 3, 1,003 together, and 7,364 of length 4.
// Each runs on each component twice: when Start has returned, and when Start waits for the reply to its first request.
// With 10 components and both beginnings that makes 20,060 runs. They take about half a minute of one processor
// without the race detector, with which make test runs those of length 1 and 2 alone. The sequences of length 4, which
// take a few minutes, and those of length 3 with the race detector are run every week:
//
//	make sequences
//
// # A run
//
// A run is in virtual time. The component is made by its public constructor. Below it are a real client, and the
// embedded server. Between the two is a network that lets one request through at a time, and breaks at the frame.
// Requests that keep or prove the session pass.
//
// Behind the sequence, if neither the component nor its client is closed, another client makes a change, and the
// network is healed. The component must tell the change within a second of virtual time after the connection is good
// again, and then another change as soon. A Start that has failed must succeed. Close must return: in a second when
// the network is good; otherwise in the time in which a silent server is given up, or in seconds if its context has
// ended. All calls of the user must return. No goroutine may stay, no ephemeral node and no watch. A request that
// fails with its connection must find the leadership lost. What the session layer has told must be legal, and be
// that of the sequence. There are no exceptions.
package sequences
