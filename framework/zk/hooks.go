package zk

// hooks is a part of Conn. It is empty. The driver's own tests, when they are run on this package, replace this file
// by one with what they look at.
type hooks struct{}

// attach is called by Connect, behind the options, and before a server is dialed.
func (*hooks) attach(*Conn) {}
