// Package wire counts what goes over connections to a server, and makes them longer.
package wire
