// Package curatorcertmagic keeps the certificates of github.com/caddyserver/certmagic, and so those of Caddy, in
// ZooKeeper. All hosts of a fleet then share certificates, keys and challenges, and one host at a time obtains or
// renews a certificate. It is a module of its own, so programs without CertMagic do not depend on CertMagic.
//
//	storage, err := curatorcertmagic.NewStorage(client, "/certmagic")
//	...
//	certmagic.Default.Storage = storage
//
// # Nodes
//
// Below the path there are keys and locks. The key "a/b" with its value is the node keys/a/b= below the path:
// a name with = at its end has a value, one without is a directory, so a key may have a value and be
// the prefix of other keys, too. Directories are containers, which ZooKeeper removes some time
// after their last child. Characters of a key other than letters, digits, "-", "_", "." and "~" are escaped
// as in the query of a URL; so is the dot of ".holder" at the end of a name. A lock is a mutex of package locks.
//
// # Private keys
//
// The values include private keys, and by default everyone who reaches the servers can read them. So make the client
// with framework.WithDefaultACL(framework.CreatorAllACL()...), which needs credentials, see
// framework.WithAuthorization, or give the storage a list of its own with [WithACL]. Nodes that exist keep the
// ACL they have. Use TLS to the servers, too.
//
// # What is guaranteed
//
// Load, Exists, Stat and List see every Store and Delete that has returned on any host before: they send a
// sync first. It depends on the leader of the ensemble as every sync of ZooKeeper does. The value of a
// key changes at once or not at all. A Store whose reply is lost is repeated.
//
// The lock of a host that ends or loses its session is free when the session ends. CertMagic takes no context
// from a lock, so it goes on with work whose lock is lost, and another host may do the same work at the same
// time. CertMagic's work survives that: at worst it obtains a certificate twice. RenewLockLease, which CertMagic
// calls before each try of an issuance or a renewal, acquires a lost lock again, and waits for the host that has
// it. Without state.SessionErrorPolicy a client gives up its locks as soon as the connection is lost; with it
// they live as long as the session.
//
// # What is not guaranteed
//
// A value is limited to what a request may have: a little less than 1 MiB, unless servers and client have
// another limit, see framework.WithMaxData. List and Delete of a directory are
// not one step: they may see or leave out what changes meanwhile. ZooKeeper keeps everything in memory, and a
// certificate with its chain has some kilobytes.
//
// # Concurrency
//
// A Storage may be used by several goroutines. It has no goroutines of its own, and nothing to close:
// framework.Client.Close ends its locks.
package curatorcertmagic
