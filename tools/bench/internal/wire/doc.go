// Package wire counts the traffic on connections to a server, and can delay it.
package wire
