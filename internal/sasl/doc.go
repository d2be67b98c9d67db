// Package sasl has the SASL mechanism DIGEST-MD5 (RFC 2831), in the form of ZooKeeper's own
// client and server.
//
// A mechanism turns the server's challenges into answers. The session layer sends them, as
// requests of type 102 before all other requests of a connection. The exchange with ZooKeeper
// is:
//
//	client: an empty token                   Next(ctx, nil)       = "", false, nil
//	server: realm, nonce, ...
//	client: username, realm, response, ...   Next(ctx, challenge) = response, false, nil
//	server: rspauth
//	client: nothing                          Next(ctx, rspauth)   = nil, true, nil
//
// DIGEST-MD5 proves that both sides know the password without sending it. It does nothing else:
// later requests are neither encrypted nor signed, and an eavesdropper can test guessed
// passwords against an exchange. Use it over TLS, with long random passwords. RFC 6331 has
// moved it to historic; ZooKeeper 3.9 and later support it only with fips-mode=false. A program
// that runs with GODEBUG=fips140=only cannot use it, because Go panics at MD5 there.
//
// The password and values that are computed from it never appear in an error, or in the text of
// a value of this package.
//
// Java: org.apache.zookeeper.client.ZooKeeperSaslClient with DigestLoginModule, and the
// mechanism in com.sun.security.sasl.digest.
package sasl
