package suite

// WithoutQuorum closes the connection, and makes every new one one to a server that has lost its quorum,
// until restore is called: it takes a client that asks for reads alone (framework.WithReadOnly), repeats
// the earlier answers to reads that this network has made before, and refuses all else.
func (n *Network) WithoutQuorum() (restore func()) {
	n.setAlone(true)
	n.Cut()
	return func() { n.setAlone(false) }
}

func (n *Network) setAlone(alone bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alone = alone
}
