// Package ensemble finds out where the servers of an ensemble are. It has providers for
// framework.WithEnsembleProvider.
//
// An [SRVProvider] reads SRV records of DNS. DNS does not say that the servers which it names
// are one ensemble, that they run, or that they are all of its servers.
//
// DNS is not authenticated. With framework.WithTLS a server's certificate is verified against
// the target of its record, a name that comes from DNS, too. Where somebody else could answer,
// set RootCAs to an authority that certifies your servers only, or set ServerName.
//
// Everything is safe for concurrent use. A provider belongs to one client, which starts and
// closes it.
//
// The context of Start bounds Start. Look-ups after that go on until Close, which joins their
// goroutine.
//
// The counterpart in Java is org.apache.curator.ensemble. Curator has no provider of SRV
// records. Its FixedEnsembleProvider is the connect string of framework.NewClient.
package ensemble
