// Package sasl has the SASL mechanism that this module brings along: DIGEST-MD5 (RFC 2831),
// as ZooKeeper's own client and server speak it.
//
// A mechanism turns the server's challenges into answers. How they travel, as requests of
// type 102 before any other of a connection, is up to the session layer, which this package
// does not know. The exchange with ZooKeeper is:
//
//	client: an empty token                   Next(ctx, nil)       = "", false, nil
//	server: realm, nonce, ...
//	client: username, realm, response, ...   Next(ctx, challenge) = response, false, nil
//	server: rspauth
//	client: nothing                          Next(ctx, rspauth)   = nil, true, nil
//
// DIGEST-MD5 proves that both sides know the password without sending it. It protects nothing
// else: the requests that follow are neither encrypted nor signed, and who has listened to an
// exchange can try passwords on it. Use it over TLS, with long random passwords. RFC 6331 has
// moved it to historic; ZooKeeper 3.9 and later have it only with fips-mode=false. A program
// that runs with GODEBUG=fips140=only cannot use it, because Go panics at MD5 there.
//
// Password and what is made of it never appear in an error, nor where a value of this package
// is formatted or logged.
//
// Java: org.apache.zookeeper.client.ZooKeeperSaslClient with DigestLoginModule, and the
// mechanism in com.sun.security.sasl.digest.
package sasl
