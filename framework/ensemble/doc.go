// Package ensemble looks up the servers of an ensemble. It has providers for
// framework.WithEnsembleProvider.
//
// An [SRVProvider] reads SRV records of DNS. DNS does not guarantee that the named servers are
// one ensemble, that they run, or that they are all of its servers.
//
// DNS is not authenticated. With framework.WithTLS a server's certificate is verified against
// the target of its record, which is also a name from DNS. If an attacker could answer DNS
// queries, set RootCAs to an authority that certifies only your servers, or set ServerName.
//
// Everything is safe for concurrent use. A provider belongs to one client, which starts and
// closes it.
//
// The context of Start bounds Start. Later look-ups continue until Close, which joins their
// goroutine.
//
// The counterpart in Java is org.apache.curator.ensemble. Curator has no provider of SRV
// records. Its FixedEnsembleProvider is the connect string of framework.NewClient.
package ensemble
