// Package ui serves a page that shows the locks and other recipes below a node, live, and can
// act on them if this is permitted.
//
// The page itself is served to every client, because it contains no data. Its data needs a
// cookie, which a browser gets for the server's secret. Requests for other hosts, and requests
// from other sites, are refused. A Server on an address that other machines can reach needs
// TLS.
//
// Errors are JSON, {"error": TEXT}. Sizes and numbers of connections are limited. When the
// context of Serve ends, all connections are closed.
package ui
