// Package ui serves a page that shows the locks and other recipes below a node, live, and if it is
// permitted acts on them.
//
// The page itself is served to everybody that can connect, because it has nothing in it. All that
// it shows needs a cookie, which a browser gets for the secret that the server was given. Requests
// for other hosts, and those that other sites make, are refused. A Server listens where it is told
// to: one that listens on an address that other machines can reach needs TLS.
//
// Errors are JSON, {"error": TEXT}. Sizes and numbers of connections are bounded. When the context
// of Serve ends, all connections are closed.
package ui
